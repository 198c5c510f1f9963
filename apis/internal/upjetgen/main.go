// Command upjetgen writes the Go types of the managed resources that are generated from a Terraform provider: what upjet makes of the
// provider's schema. It needs neither Terraform nor a network.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/alecthomas/kong"
	"github.com/crossplane/upjet/v2/pkg/pipeline"
	"github.com/crossplane/upjet/v2/pkg/types"

	"github.com/ryuvia/provider-terdut/internal/terraform/config"
)

// version of the API.
const version = "v1alpha1"

// kept are the ends of the names of what is used of all that upjet writes: it also writes controllers, and what several versions of an API
// need.
var kept = []string{"_types.go", "_terraformed.go", "zz_groupversion_info.go"}

func main() {
	cli := struct {
		Output string `required:"" type:"path" help:"Directory of the API group."`
		Hack   string `required:"" type:"path" help:"Directory that holds boilerplate.go.txt."`
	}{}
	kong.Parse(&cli)
	if err := generate(cli.Output, cli.Hack); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// generate the types of the API group into a directory.
func generate(output, hack string) error {
	p, err := config.Provider(context.Background())
	if err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "upjetgen")
	if err != nil {
		return fmt.Errorf("cannot create working directory: %w", err)
	}
	defer os.RemoveAll(work) // Only a copy is left behind.

	// upjet names directories and packages after the first part of the group.
	group := filepath.Base(output)
	r := pipeline.PipelineRunner{
		DirAPIs:               filepath.Join(work, "apis"),
		DirControllers:        filepath.Join(work, "controllers"),
		DirExamples:           filepath.Join(work, "examples"),
		DirHack:               hack,
		ModulePathAPIs:        p.ModulePath + "/apis/openbao",
		ModulePathControllers: p.ModulePath + "/internal/controller/openbao",
		Scope:                 types.CRDScopeNamespaced,
	}
	for _, d := range []string{r.DirAPIs, r.DirControllers} {
		if err := os.MkdirAll(d, 0o750); err != nil {
			return fmt.Errorf("cannot create working directory: %w", err)
		}
	}
	r.Run(p)

	files, err := filepath.Glob(filepath.Join(r.DirAPIs, group, "*", "zz_*.go"))
	if err != nil {
		return fmt.Errorf("cannot list what was generated: %w", err)
	}
	for _, f := range files {
		if !keeps(f) {
			continue
		}
		rel, err := filepath.Rel(filepath.Join(r.DirAPIs, group), f)
		if err != nil {
			return fmt.Errorf("cannot place %s: %w", f, err)
		}
		if err := adapt(f, filepath.Join(output, rel)); err != nil {
			return err
		}
	}
	return writeAccessors(filepath.Join(output, version), p)
}

func keeps(file string) bool {
	for _, k := range kept {
		if strings.HasSuffix(file, k) {
			return true
		}
	}
	return false
}
