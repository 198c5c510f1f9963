package release

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/ryuvia/provider-terdut/cluster/images"
)

// licence of the product, as SPDX names it.
const licence = "Apache-2.0"

// A bom is the part that is used here of a CycloneDX 1.6 bill of materials (https://cyclonedx.org/docs/1.6/json/).
type bom struct {
	Format       string       `json:"bomFormat"`
	SpecVersion  string       `json:"specVersion"`
	Version      int          `json:"version"`
	Metadata     metadata     `json:"metadata"`
	Components   []component  `json:"components"`
	Dependencies []dependency `json:"dependencies"`
}

type metadata struct {
	Timestamp string    `json:"timestamp"`
	Component component `json:"component"`
}

type component struct {
	Type       string          `json:"type"`
	Ref        string          `json:"bom-ref"`
	Name       string          `json:"name"`
	Version    string          `json:"version"`
	Hashes     []hash          `json:"hashes,omitempty"`
	Licenses   []licenseChoice `json:"licenses,omitempty"`
	PURL       string          `json:"purl"`
	Properties []property      `json:"properties,omitempty"`
}

type hash struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"`
}

type licenseChoice struct {
	License license `json:"license"`
}

type license struct {
	ID string `json:"id"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type dependency struct {
	Ref       string   `json:"ref"`
	DependsOn []string `json:"dependsOn"`
}

// bomFile is the name of the bill of materials beside a package's file.
func bomFile(pkg string) string { return strings.TrimSuffix(pkg, ".xpkg") + ".cdx.json" }

// billOfMaterials of a program: the modules that the linker found packages of in it, and the standard library, whose version is that of the
// toolchain. What go.mod lists for tests and tools is not in it, because it is not in the program.
func billOfMaterials(p images.Package, c Commit, info *debug.BuildInfo, sha256 string) (*bom, error) {
	main := component{
		Type: "application", Name: p.Name, Version: c.Version,
		Hashes:   []hash{{Algorithm: "SHA-256", Content: sha256}},
		Licenses: []licenseChoice{{License: license{ID: licence}}},
		PURL: packageURL(info.Main.Path, c.Version) + "?goarch=" + setting(info, "GOARCH") + "&goos=" + setting(info, "GOOS") +
			"#" + strings.TrimPrefix(info.Path, info.Main.Path+"/"),
		Properties: []property{{Name: "cdx:gomod:build:env:GOVERSION", Value: info.GoVersion}},
	}
	for _, s := range []string{"CGO_ENABLED", "GOARCH", "GOOS"} {
		main.Properties = append(main.Properties, property{Name: "cdx:gomod:build:env:" + s, Value: setting(info, s)})
	}
	main.Ref = main.PURL

	std := strings.TrimPrefix(info.GoVersion, "go")
	components := []component{{Type: "library", Name: "stdlib", Version: std, PURL: packageURL("stdlib", std)}}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		if strings.HasPrefix(m.Path, "./internal/") {
			// A folder of this repository: it is a part of the program, under a name that others import it by.
			continue
		}
		if m.Sum == "" {
			return nil, fmt.Errorf("module %s has no checksum: it comes from a folder and not from a module proxy", m.Path)
		}
		components = append(components, component{
			Type: "library", Name: m.Path, Version: m.Version, PURL: packageURL(m.Path, m.Version),
			Properties: []property{{Name: "golang:go.sum", Value: m.Sum}},
		})
	}
	slices.SortFunc(components, func(a, b component) int { return cmp.Compare(a.Name, b.Name) })
	all := dependency{Ref: main.Ref}
	for i := range components {
		components[i].Ref = components[i].PURL
		all.DependsOn = append(all.DependsOn, components[i].Ref)
	}
	return &bom{
		Format: "CycloneDX", SpecVersion: "1.6", Version: 1,
		Metadata:   metadata{Timestamp: c.Time.Format(time.RFC3339), Component: main},
		Components: components, Dependencies: []dependency{all},
	}, nil
}

// packageURL of a Go module. See https://github.com/package-url/purl-spec: names of this type are in lower case, and what is not a letter,
// digit, dash, dot, underscore or tilde is escaped.
func packageURL(path, version string) string {
	return "pkg:golang/" + strings.ToLower(path) + "@" + url.QueryEscape(version)
}

// setting of a build, or nothing.
func setting(info *debug.BuildInfo, key string) string {
	for _, s := range info.Settings {
		if s.Key == key {
			return s.Value
		}
	}
	return ""
}

// checkBuild refuses a program that was compiled in another way than everybody's: an experiment or a flag from the environment, or with
// paths of this machine in it.
func checkBuild(info *debug.BuildInfo) error {
	if setting(info, "-trimpath") != "true" {
		return errors.New("it holds paths of the machine that built it")
	}
	for _, key := range []string{"GOEXPERIMENT", "GOFIPS140", "-tags", "-gcflags", "-asmflags", "-race", "-msan", "-asan", "-cover", "-pgo"} {
		if v := setting(info, key); v != "" && v != "off" {
			return fmt.Errorf("it was built with %s=%s", key, v)
		}
	}
	return nil
}
