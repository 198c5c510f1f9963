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

// Left returns a credential with a way into a server that nobody retained yet: that of an object of the owner's kind, namespace and name which
// is gone, because the owner has its name. It is nil when there is none.
func (s *Store) Left(ctx context.Context, o Owner, endpoint string) (*Credential, error) {
	all, err := s.All(ctx)
	if err != nil {
		return nil, err
	}
	for _, c := range all {
		if c.Owner.UID != "" && c.Owner.UID != o.UID && retained(c.Owner) == retained(o) && c.Endpoint == endpoint && (c.Complete() || c.AdminToken != "") {
			return c, nil
		}
	}
	return nil, nil
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

// TakeOver makes what another credential holds an owner's, which may be stored already. The other one is deleted once this one is stored.
func (s *Store) TakeOver(other, own *Credential) *Credential {
	taken := *other
	taken.Owner, taken.version = own.Owner, own.version
	if taken.Pending == PendingDeletion {
		// That was to be the other owner's end.
		taken.Pending = ""
	}
	return &taken
}
