// The Image Factory's own reading of schematics, without a server around it.
//
// Each line of standard input is a JSON string with the YAML text of a schematic. Each is answered by one JSON line:
// {"id", "schematic"}, or {"error"} where the factory would refuse it at POST /schematics. With -enterprise it takes an owner.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"log"
	"os"

	"github.com/siderolabs/image-factory/pkg/schematic"
)

type answer struct {
	ID        string `json:"id,omitempty"`
	Schematic string `json:"schematic,omitempty"`
	Error     string `json:"error,omitempty"`
}

func main() {
	enterprise := flag.Bool("enterprise", false, "judge as the Enterprise edition")
	flag.Parse()

	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	out := bufio.NewWriterSize(os.Stdout, 1<<20)
	encoder := json.NewEncoder(out)

	for number := 1; ; number++ {
		line, ended := in.ReadBytes('\n')
		if len(line) > 0 {
			var text string
			if err := json.Unmarshal(line, &text); err != nil {
				log.Fatalf("line %d: %v", number, err)
			}
			if err := encoder.Encode(judge(text, *enterprise)); err != nil {
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

// judge takes the steps of the factory's own handler, in its order.
func judge(text string, enterprise bool) answer {
	parsed, err := schematic.Unmarshal([]byte(text))
	if err != nil {
		return answer{Error: err.Error()}
	}
	// Only the Enterprise edition takes an owner.
	if err := parsed.Validate(enterprise); err != nil {
		return answer{Error: err.Error()}
	}
	canonical, err := parsed.Marshal()
	if err != nil {
		return answer{Error: err.Error()}
	}
	id, err := parsed.ID()
	if err != nil {
		return answer{Error: err.Error()}
	}
	return answer{ID: id, Schematic: string(canonical)}
}
