package setup

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/ryuvia/provider-terdut/apis/openbao/v1alpha1"
)

// lateMapper knows no kind for its first answers.
type lateMapper struct {
	meta.RESTMapper

	unknown, asked int
}

func (m *lateMapper) RESTMapping(gk schema.GroupKind, _ ...string) (*meta.RESTMapping, error) {
	m.asked++
	if m.asked <= m.unknown {
		return nil, &meta.NoKindMatchError{GroupKind: gk}
	}
	return &meta.RESTMapping{}, nil
}

// TestServed holds that a kind which discovery does not know yet is waited for: starting its controller would fail.
func TestServed(t *testing.T) {
	m := &lateMapper{unknown: 2}
	if err := Served(t.Context(), m, v1alpha1.BaoSecretGroupVersionKind); err != nil || m.asked != 3 {
		t.Errorf("want the third answer to do, got %d questions and %v", m.asked, err)
	}
}
