package images

import (
	"bytes"
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// TestMetadata holds that each package says what it is, whose, and under which licence, in the annotations that tools read: those of the xpkg
// specification, and the two of Crossplane's design of package annotations that catalogues show.
func TestMetadata(t *testing.T) {
	root := filepath.Join("..", "..")
	icon, err := os.ReadFile(filepath.Join(root, "package", "icon.svg"))
	if err != nil {
		t.Fatal(err)
	}
	module, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	path, _, _ := strings.Cut(strings.TrimPrefix(string(module), "module "), "\n")
	licence, err := os.ReadFile(filepath.Join(root, "LICENSE"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(licence, []byte("Apache License\n                           Version 2.0")) {
		t.Error("LICENSE is not what the packages say")
	}

	for _, p := range Packages() {
		t.Run(p.Name, func(t *testing.T) {
			raw, err := os.ReadFile(filepath.Join(root, p.Root, "crossplane.yaml"))
			if err != nil {
				t.Fatal(err)
			}
			meta := metav1.PartialObjectMetadata{}
			if err := yaml.Unmarshal(raw, &meta); err != nil {
				t.Fatal(err)
			}
			for name, want := range map[string]string{
				"meta.crossplane.io/source":  "https://" + path,
				"meta.crossplane.io/license": "Apache-2.0",
				"meta.crossplane.io/iconURI": "data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString(bytes.TrimSpace(icon)),
			} {
				if got := meta.Annotations[name]; got != want {
					t.Errorf("annotation %s: want %s, got %s", name, want, got)
				}
			}
			for _, name := range []string{"maintainer", "description", "readme"} {
				if meta.Annotations["meta.crossplane.io/"+name] == "" {
					t.Errorf("annotation meta.crossplane.io/%s is missing", name)
				}
			}
			if meta.Annotations["friendly-name.meta.crossplane.io"] == "" {
				t.Error("annotation friendly-name.meta.crossplane.io is missing")
			}
			if len(p.Examples) == 0 {
				t.Error("the package has no examples")
			}
			if examples, err := documents(root, p.Examples); err != nil || len(examples) == 0 {
				t.Errorf("documents(...): %d bytes, %v", len(examples), err)
			}
		})
	}
}
