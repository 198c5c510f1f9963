// Command tool builds a tool of the toolchain when it is missing and runs it: go run ./cluster/local/cmd/tool NAME ARGS...
package main

import (
	"context"
	"fmt"
	"os"
	"syscall"

	"github.com/ryuvia/provider-terdut/cluster/local/toolchain"
)

func main() {
	if len(os.Args) < 2 {
		fail(fmt.Errorf("name a tool, for example golangci-lint"))
	}
	name := os.Args[1]
	paths, err := toolchain.Ensure(context.Background(), []string{name}, os.Stderr)
	if err != nil {
		fail(err)
	}
	// The tool takes this process's place, with its exit status and signals.
	fail(syscall.Exec(paths[name], append([]string{name}, os.Args[2:]...), os.Environ()))
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "tool:", err)
	os.Exit(1)
}
