package apis

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// TestExamples decodes every manifest of our own groups below examples. A field that does not exist is an error, but for composites that
// an example is rendered with: Crossplane adds fields to them.
func TestExamples(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	decoder := serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer()

	decoded := 0
	err := filepath.WalkDir("../examples", func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".yaml" {
			return err
		}
		if strings.Contains(path, "/render/required/") {
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		docs := yaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(data)))
		for {
			doc, err := docs.Read()
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				return err
			}
			_, gvk, err := decoder.Decode(doc, nil, nil)
			switch {
			case gvk == nil || !scheme.IsGroupRegistered(gvk.Group):
				continue // A Namespace, a Function, an ExternalSecret.
			case err != nil:
				t.Errorf("%s: %v", path, err)
			}
			decoded++
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if decoded == 0 {
		t.Error("no example was found")
	}
}
