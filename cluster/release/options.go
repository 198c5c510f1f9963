package release

import (
	"fmt"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
)

// validate what decides about names of files and about what is written into manifests and provenance.
func (o *Options) validate() error {
	if len(o.Platforms) == 0 {
		return fmt.Errorf("cannot build for no platform: name at least one, for example linux/amd64")
	}
	seen := map[string]bool{}
	for _, p := range o.Platforms {
		s := p.String()
		if p.OS == "" || p.Architecture == "" || p.Variant != "" || p.OSVersion != "" || len(p.OSFeatures) > 0 {
			return fmt.Errorf("cannot build for platform %q: write operating system and architecture alone, for example linux/amd64", s)
		}
		if seen[s] {
			return fmt.Errorf("cannot build for platform %q twice", s)
		}
		seen[s] = true
	}
	// What is wrong with it is not repeated: it may hold a password.
	if _, err := name.NewRepository(strings.TrimSuffix(o.Registry, "/")+"/package", name.StrictValidation); err != nil || strings.Contains(o.Registry, "//") {
		return fmt.Errorf("cannot use the registry: write host and path alone, for example registry.example.org/mirror")
	}
	return nil
}
