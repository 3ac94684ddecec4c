// Talos's own judgement of a machine config patch, for the Talos release that go.mod requires.
//
// Each line of standard input is {"patch": "<YAML, one or more documents>"}. Each is answered by one JSON line:
// {"config", "warnings", "modules"} for a complete worker configuration with the patch applied, or
// {"error": "stage: message"}, where stage is load, apply, reload or validate.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"runtime/debug"

	talos "github.com/siderolabs/talos/pkg/machinery/config"
	"github.com/siderolabs/talos/pkg/machinery/config/configloader"
	"github.com/siderolabs/talos/pkg/machinery/config/configpatcher"
	"github.com/siderolabs/talos/pkg/machinery/config/encoder"
	"github.com/siderolabs/talos/pkg/machinery/config/generate"
	"github.com/siderolabs/talos/pkg/machinery/config/generate/secrets"
	"github.com/siderolabs/talos/pkg/machinery/config/machine"
	"github.com/siderolabs/talos/pkg/machinery/config/types/v1alpha1"
	"github.com/siderolabs/talos/pkg/machinery/constants"
)

type request struct {
	Patch string `json:"patch"`
}

type answer struct {
	Config   string         `json:"config"`
	Warnings []string       `json:"warnings"`
	Modules  []kernelModule `json:"modules"`
}

type refusal struct {
	Error string `json:"error"`
}

type kernelModule struct {
	Name       string   `json:"name"`
	Parameters []string `json:"parameters"`
}

// metal is the mode of a machine that Talos is installed on.
type metal struct{}

func (metal) String() string        { return "metal" }
func (metal) RequiresInstall() bool { return true }
func (metal) InContainer() bool     { return false }

func main() {
	worker, err := generated()
	if err != nil {
		log.Fatal(err)
	}

	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	out := bufio.NewWriterSize(os.Stdout, 1<<20)
	lines := json.NewEncoder(out)

	for number := 1; ; number++ {
		line, ended := in.ReadBytes('\n')
		if len(line) > 0 {
			var asked request
			if err := json.Unmarshal(line, &asked); err != nil {
				log.Fatalf("line %d: %v", number, err)
			}
			if err := lines.Encode(judge(worker, []byte(asked.Patch))); err != nil {
				log.Fatal(err)
			}
		}
		// Batches are written in large blocks, yet a caller that waits for each answer gets it.
		if in.Buffered() == 0 {
			if err := out.Flush(); err != nil {
				log.Fatal(err)
			}
		}
		if ended != nil {
			if !errors.Is(ended, io.EOF) {
				log.Fatal(ended)
			}
			return
		}
	}
}

// generated is the complete worker configuration that each patch is applied to a copy of.
func generated() (talos.Provider, error) {
	contract, err := contract()
	if err != nil {
		return nil, err
	}
	bundle, err := secrets.NewBundle(secrets.NewClock(), contract)
	if err != nil {
		return nil, err
	}
	input, err := generate.NewInput("lab", "https://192.0.2.1:6443", constants.DefaultKubernetesVersion,
		generate.WithVersionContract(contract), generate.WithSecretsBundle(bundle),
		// As talosctl does: the library has no default, and validation asks for a disk.
		generate.WithInstallDisk("/dev/sda"))
	if err != nil {
		return nil, err
	}
	return input.Config(machine.TypeWorker)
}

// contract reads the version that this program was built with, so that go.mod is the only place that names it.
func contract() (*talos.VersionContract, error) {
	const machinery = "github.com/siderolabs/talos/pkg/machinery"
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, module := range info.Deps {
			if module.Path == machinery {
				return talos.ParseContractFromVersion(module.Version)
			}
		}
	}
	return nil, fmt.Errorf("this program does not know its version of %s", machinery)
}

func judge(worker talos.Provider, text []byte) any {
	patch, err := configpatcher.LoadPatch(text)
	if err != nil {
		return refused("load", err)
	}
	applied, err := configpatcher.Apply(configpatcher.WithConfig(worker), []configpatcher.Patch{patch})
	if err != nil {
		return refused("apply", err)
	}
	patched, err := applied.Config()
	if err != nil {
		return refused("apply", err)
	}
	// Comments would be most of the text.
	config, err := patched.EncodeBytes(encoder.WithComments(encoder.CommentsDisabled))
	if err != nil {
		return refused("apply", err)
	}
	reloaded, err := configloader.NewFromBytes(config)
	if err != nil {
		return refused("reload", err)
	}
	warnings, err := reloaded.Validate(metal{})
	if err != nil {
		return refused("validate", err)
	}
	return answer{string(config), append([]string{}, warnings...), modules(reloaded)}
}

func refused(stage string, err error) refusal {
	return refusal{fmt.Sprintf("%s: %v", stage, err)}
}

// modules finds kernel modules in both their places: no accessor of the whole configuration exists in every release.
func modules(config talos.Provider) []kernelModule {
	type accessors interface {
		Name() string
		Parameters() []string
	}

	found := []kernelModule{}
	add := func(module accessors) {
		found = append(found, kernelModule{module.Name(), append([]string{}, module.Parameters()...)})
	}
	for _, document := range config.Documents() {
		if main, ok := document.(*v1alpha1.Config); ok {
			if main.MachineConfig != nil && main.MachineConfig.MachineKernel != nil {
				for _, module := range main.MachineConfig.MachineKernel.KernelModules {
					add(module)
				}
			}
		} else if module, ok := document.(accessors); ok && document.Kind() == "KernelModuleConfig" {
			add(module)
		}
	}
	return found
}
