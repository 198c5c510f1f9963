package baosecret

import (
	"context"
	"fmt"

	"github.com/ryuvia/provider-terdut/apis/openbao/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/connect"
)

// Read the value of a key of the record that a BaoSecret manages, at the version in its status. The record must be held by this very
// BaoSecret, whatever the status says. Errors hold no value.
func Read(ctx context.Context, bao *connect.OpenBao, s *v1alpha1.BaoSecret, key string) (string, error) {
	cfg, client, err := bao.Connect(ctx, s)
	if err != nil {
		return "", err
	}
	mount := cfg.Server.Mount
	if m := s.Spec.ForProvider.Mount; m != nil {
		mount = *m
	}
	d, err := client.ReadData(ctx, mount, s.Spec.ForProvider.Path, int(s.Status.AtProvider.Version))
	if err != nil {
		return "", err
	}
	if d.CustomMetadata[tagHolder] != string(s.GetUID()) {
		return "", fmt.Errorf("the record of BaoSecret %q is not held by it", s.GetName())
	}
	v, ok := d.Text(key)
	if !ok || v == "" {
		return "", fmt.Errorf("the record of BaoSecret %q has no text at key %q", s.GetName(), key)
	}
	return v, nil
}
