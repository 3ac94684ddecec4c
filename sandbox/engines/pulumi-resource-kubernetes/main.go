// Serves the Kubernetes provider of the pinned module under the released version it corresponds to.
package main

import (
	_ "embed"

	"github.com/pulumi/pulumi-kubernetes/provider/v4/pkg/provider"
)

// version is set by the linker, so that Go code carries no version of its own.
var version = "0.0.0"

//go:embed schema.json
var schema []byte

func main() { provider.Serve("kubernetes", version, schema, []byte("{}")) }
