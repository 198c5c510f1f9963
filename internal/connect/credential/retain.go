package credential

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
)

// retained is who a credential belongs to that waits for the next object of the same kind, namespace, name and server.
func retained(o Owner) Owner {
	o.UID = ""
	return o
}

// retainedName is the name of the Secret with a retained credential.
func retainedName(o Owner, endpoint string) string {
	return "terdut-retained-" + digest(o.Kind, o.Namespace, o.Name, endpoint)
}

// Retained returns the credential that was retained when an object of that kind, namespace, name and endpoint went, or nil. The owner's uid
// makes no difference.
func (s *Store) Retained(ctx context.Context, o Owner, endpoint string) (*Credential, error) {
	name := retainedName(o, endpoint)
	c, err := s.read(ctx, name, retained(o))
	if err != nil || c == nil {
		return nil, err
	}
	if c.Endpoint != endpoint {
		return nil, &ForeignError{Secret: types.NamespacedName{Namespace: s.namespace, Name: name}}
	}
	return c, nil
}

// Retain moves a credential to where the next object of its owner's kind, namespace, name and server finds it. It may be repeated.
func (s *Store) Retain(ctx context.Context, c *Credential) error {
	old, err := s.Retained(ctx, c.Owner, c.Endpoint)
	if err != nil {
		return err
	}
	kept := *c
	kept.Owner, kept.version = retained(c.Owner), ""
	if old != nil {
		kept.version = old.version
	}
	if err := s.Keep(ctx, &kept); err != nil {
		return fmt.Errorf("cannot retain credential: %w", err)
	}
	return s.Delete(ctx, c)
}

// TakeOver makes a retained credential an owner's. The retained one is dropped by DropRetained once this one is stored.
func (s *Store) TakeOver(c *Credential, o Owner) *Credential {
	taken := *c
	taken.Owner, taken.version = o, ""
	return &taken
}

// DropRetained deletes what was retained for an owner's namespace, name and server.
func (s *Store) DropRetained(ctx context.Context, o Owner, endpoint string) error {
	c, err := s.Retained(ctx, o, endpoint)
	if err != nil || c == nil {
		return err
	}
	return s.Delete(ctx, c)
}
