package setup

import (
	"errors"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/ryuvia/provider-terdut/apis/openbao/v1alpha1"
)

// gate opens when it is told to.
type gate struct{ open func() }

func (g *gate) Register(f func(), _ ...schema.GroupVersionKind)  { g.open = f }
func (g *gate) Set(schema.GroupVersionKind, bool) (changed bool) { return false }

// TestGated holds that a controller starts when its kinds are there, and that one which cannot start is not passed over in silence.
func TestGated(t *testing.T) {
	calls := 0
	start := func() error { calls++; return errBoom }

	if err := Gated(Options{}, start, v1alpha1.BaoSecretGroupVersionKind); !errors.Is(err, errBoom) || calls != 1 {
		t.Errorf("without a gate: want one call and errBoom, got %d and %v", calls, err)
	}

	g := &gate{}
	if err := Gated(Options{Options: controller.Options{Gate: g}}, start, v1alpha1.BaoSecretGroupVersionKind); err != nil || calls != 1 {
		t.Errorf("with a closed gate: want no call, got %d and %v", calls-1, err)
	}
	defer func() {
		if recover() == nil {
			t.Error("a controller that cannot start must end the provider")
		}
		if calls != 2 {
			t.Error("the gate's opening must start the controller")
		}
	}()
	g.open()
}
