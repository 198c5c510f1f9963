package openbao_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/ryuvia/provider-terdut/internal/terraform/openbao"
)

// TestSchema holds that the schemas are valid and that everything in them is described in full sentences.
func TestSchema(t *testing.T) {
	s := providerserver.NewProtocol6(openbao.New("test")())()
	resp, err := s.GetProviderSchema(context.Background(), &tfprotov6.GetProviderSchemaRequest{})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range resp.Diagnostics {
		t.Errorf("%s: %s", d.Summary, d.Detail)
	}
	schemas := map[string]*tfprotov6.Schema{"provider": resp.Provider}
	var names []string
	for name, s := range resp.ResourceSchemas {
		schemas[name] = s
		names = append(names, name)
	}
	slices.Sort(names)
	if want := []string{"openbao_approle_role", "openbao_kubernetes_auth_role", "openbao_policy"}; !slices.Equal(names, want) {
		t.Errorf("resources: want %v, got %v", want, names)
	}
	for name, s := range schemas {
		if !sentence(s.Block.Description) {
			t.Errorf("%s is not described", name)
		}
		for _, a := range s.Block.Attributes {
			if !sentence(a.Description) {
				t.Errorf("%s: %s is not described", name, a.Name)
			}
			if name != "provider" && a.Optional && !a.Computed {
				t.Errorf("%s: %s has no default: upjet passes over what a plan leaves null, so that it could not be taken out again", name, a.Name)
			}
		}
	}
}

func sentence(s string) bool {
	return s != "" && strings.ToUpper(s[:1]) == s[:1] && strings.HasSuffix(s, ".")
}
