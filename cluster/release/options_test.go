package release

import (
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

func TestOptions(t *testing.T) {
	arm := v1.Platform{OS: "linux", Architecture: "arm64", Variant: "v8"}
	cases := map[string]struct {
		platforms []v1.Platform
		registry  string
		want      string // Part of an error, or nothing.
	}{
		"Good":         {[]v1.Platform{amd64, arm64}, "registry.example.org/mirror/", ""},
		"Port":         {[]v1.Platform{amd64}, "localhost:5000", ""},
		"NoPlatform":   {nil, "registry.example.org", "cannot build for no platform"},
		"Architecture": {[]v1.Platform{{OS: "linux"}}, "registry.example.org", `platform "linux": write operating system and architecture alone`},
		"Variant":      {[]v1.Platform{arm64, arm}, "registry.example.org", `platform "linux/arm64/v8"`},
		"Twice":        {[]v1.Platform{amd64, amd64}, "registry.example.org", `platform "linux/amd64" twice`},
		"Scheme":       {[]v1.Platform{amd64}, "https://registry.example.org", "cannot use the registry"},
		"Credentials":  {[]v1.Platform{amd64}, "user:password@registry.example.org/mirror", "cannot use the registry"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			err := (&Options{Platforms: tc.platforms, Registry: tc.registry}).validate()
			if (err == nil) != (tc.want == "") || err != nil && (!strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "password")) {
				t.Errorf("got %v, want an error with %q", err, tc.want)
			}
		})
	}
}
