package baosecret

import (
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	"github.com/ryuvia/provider-terdut/apis/openbao/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/clients/openbao"
	"github.com/ryuvia/provider-terdut/internal/connect"
)

// TestProjectAccess holds that a BaoSecret reports what its provider config says of how records are read, whoever holds the record.
func TestProjectAccess(t *testing.T) {
	access := v1alpha1.Access{
		Default:    v1alpha1.AccessKubernetes,
		Kubernetes: v1alpha1.KubernetesRoles{AuthPath: "kubernetes", Audience: "openbao", TokenTTLSeconds: 600},
	}
	theirs := tagged(map[string]string{tagOwnerUID: "other"})

	cases := map[string]struct {
		reason string
		server v1alpha1.ServerSpec
		record *record
		want   *v1alpha1.AccessObservation
	}{
		"NoAccess": {"The admin has said nothing.", v1alpha1.ServerSpec{Address: "https://bao.example"}, &record{}, nil},
		"Access": {"Consumers are told where the provider goes itself.", v1alpha1.ServerSpec{Address: "https://bao.example", Access: &access}, &record{},
			&v1alpha1.AccessObservation{Access: access, Server: "https://bao.example"}},
		"Namespace": {"The namespace of OpenBao is needed to log in.", v1alpha1.ServerSpec{Address: "https://bao.example", Namespace: ptr.To("team"), Access: &access}, &record{},
			&v1alpha1.AccessObservation{Access: access, Server: "https://bao.example", Namespace: "team"}},
		"External": {"Consumers may need another address.", v1alpha1.ServerSpec{Address: "https://bao.svc", ExternalAddress: ptr.To("https://bao.example"), Access: &access}, &record{},
			&v1alpha1.AccessObservation{Access: access, Server: "https://bao.example"}},
		"SomebodyElses": {"It is said of the config, not of the record.", v1alpha1.ServerSpec{Address: "https://bao.example", Access: &access}, &record{metadata: theirs},
			&v1alpha1.AccessObservation{Access: access, Server: "https://bao.example"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, c := newKV(t)
			e := view(t, c)
			e.cfg = &connect.OpenBaoConfig{Server: tc.server}
			s := mine()
			e.project(s, tc.record)
			if diff := cmp.Diff(tc.want, s.Status.AtProvider.Access); diff != "" {
				t.Errorf("\n%s\ne.project(...): -want access, +got:\n%s", tc.reason, diff)
			}
			before := s.DeepCopy()
			e.project(s, tc.record)
			if diff := cmp.Diff(before, s); diff != "" {
				t.Errorf("\n%s\nprojecting the same again changes the status: -before, +after:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestProjectCABundle holds that consumers are given the bundle that the client verifies the server with, wherever the config has it from.
func TestProjectCABundle(t *testing.T) {
	server := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(server.Close)
	bundle := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	c, err := openbao.New(openbao.Config{Address: server.URL, CABundle: bundle, Auth: openbao.Auth{Token: "token"}})
	if err != nil {
		t.Fatal(err)
	}
	e := view(t, c)
	e.cfg.Server.Access = &v1alpha1.Access{Default: v1alpha1.AccessShared}
	s := mine()
	e.project(s, &record{})
	if diff := cmp.Diff(string(bundle), s.Status.AtProvider.Access.CABundle); diff != "" {
		t.Errorf("e.project(...): -want CA bundle, +got:\n%s", diff)
	}
}
