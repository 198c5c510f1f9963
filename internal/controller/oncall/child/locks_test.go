package child

import (
	"context"
	"errors"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ryuvia/provider-terdut/apis/oncall/v1alpha1"
)

// TestLocks holds that one has the lock of a Team at a time, that whoever waits for it stops when the context ends, that other Teams have locks
// of their own, and that nothing is kept afterwards.
func TestLocks(t *testing.T) {
	l := &Locks{}
	one := &Team{Object: &v1alpha1.Team{ObjectMeta: metav1.ObjectMeta{UID: "one"}}}
	two := &Team{Object: &v1alpha1.Team{ObjectMeta: metav1.ObjectMeta{UID: "two"}}}
	release, err := l.Acquire(t.Context(), one)
	if err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := l.Acquire(ended, one); !errors.Is(err, context.Canceled) {
		t.Errorf("a second one: %v", err)
	}
	other, err := l.Acquire(t.Context(), two)
	if err != nil {
		t.Errorf("another Team: %v", err)
	}
	other()
	next := make(chan error)
	go func() {
		r, err := l.Acquire(t.Context(), one)
		if err == nil {
			r()
		}
		next <- err
	}()
	release()
	if err := <-next; err != nil {
		t.Errorf("the next one: %v", err)
	}
	if len(l.by) != 0 {
		t.Errorf("%d locks are kept", len(l.by))
	}
}
