package server

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"time"

	"google.golang.org/protobuf/types/known/structpb"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/utils/ptr"

	commonv1alpha1 "github.com/ryuvia/provider-terdut/apis/common/v1alpha1"
	oncallv1alpha1 "github.com/ryuvia/provider-terdut/apis/oncall/v1alpha1"
	"github.com/ryuvia/provider-terdut/apis/v1alpha1"
	"github.com/ryuvia/provider-terdut/functions/internal/composite"
)

// Defaults of a TerdutServer's spec. The API server sets them too; a rendered TerdutServer never passes one.
const (
	defaultReplicas = 1
	defaultPort     = 8080
	defaultSeverity = "critical"
)

// specOf a composite, with defaults. Fields of Crossplane's own are left out.
func specOf(xr *structpb.Struct) (v1alpha1.TerdutServerSpec, error) {
	own := composite.OwnSpec(xr)
	if own == nil {
		return v1alpha1.TerdutServerSpec{}, errors.New("spec: required, and must be an object")
	}
	obj := struct {
		Spec v1alpha1.TerdutServerSpec `json:"spec"`
	}{}
	err := composite.DecodeStrict(&structpb.Struct{Fields: map[string]*structpb.Value{"spec": structpb.NewStructValue(own)}}, &obj)
	if err != nil {
		return v1alpha1.TerdutServerSpec{}, err
	}
	spec := obj.Spec
	setDefaults(&spec)
	return spec, validate(spec)
}

func setDefaults(spec *v1alpha1.TerdutServerSpec) {
	if spec.Replicas == nil {
		spec.Replicas = ptr.To[int32](defaultReplicas)
	}
	if spec.Networking.ServicePort == nil {
		spec.Networking.ServicePort = ptr.To[int32](defaultPort)
	}
	if spec.PasswordLogin == nil {
		spec.PasswordLogin = ptr.To(true)
	}
	if spec.AllowedTeams.Namespaces.From == "" {
		spec.AllowedTeams.Namespaces.From = oncallv1alpha1.NamespacesNone
	}
	if spec.DeletionPolicy == "" {
		spec.DeletionPolicy = commonv1alpha1.DeletionRetain
	}
	if c := spec.Database.PostgresClusterRef; c != nil && c.Kind == "" {
		c.Kind = v1alpha1.ClusterKindZalando
	}
	for i := range spec.Teams {
		for j := range spec.Teams[i].DeadmanSwitches {
			if d := &spec.Teams[i].DeadmanSwitches[j]; d.Severity == "" {
				d.Severity = defaultSeverity
			}
		}
		for j := range spec.Teams[i].Integrations {
			if n := &spec.Teams[i].Integrations[j]; n.Kind == "" {
				n.Kind = oncallv1alpha1.IntegrationKindAlertmanager
			}
		}
	}
}

// validate what would otherwise end in a composed resource that the API server refuses, or worse, accepts.
func validate(spec v1alpha1.TerdutServerSpec) error {
	switch {
	case spec.Image.Repository == "":
		return errors.New("spec.image.repository: required")
	case spec.Image.Tag == nil && spec.Image.Digest == nil:
		return errors.New("spec.image: set tag, digest or both")
	case *spec.Replicas < 1:
		return errors.New("spec.replicas: must be at least 1")
	case *spec.Networking.ServicePort < 1 || *spec.Networking.ServicePort > 65535:
		return errors.New("spec.networking.servicePort: must be from 1 to 65535")
	case spec.Admin.Username == "":
		return errors.New("spec.admin.username: required")
	case spec.Admin.Email == "":
		return errors.New("spec.admin.email: required")
	case spec.DeletionPolicy != commonv1alpha1.DeletionRetain && spec.DeletionPolicy != commonv1alpha1.DeletionDelete:
		return errors.New("spec.deletionPolicy: must be Retain or Delete")
	case (spec.AllowedTeams.Namespaces.Selector != nil) != (spec.AllowedTeams.Namespaces.From == oncallv1alpha1.NamespacesSelector):
		return errors.New("spec.allowedTeams.namespaces: set selector for from: Selector, and for that alone")
	}
	if l := spec.Networking.GatewayListener; l != nil {
		if spec.Networking.Hostname == nil {
			return errors.New("spec.networking.hostname: required with gatewayListener")
		}
		if !listener.MatchString(*l) {
			return errors.New("spec.networking.gatewayListener: must be namespace/gateway or namespace/gateway/section")
		}
	}
	if err := validateDatabase(spec.Database); err != nil {
		return err
	}
	if err := unique("spec.env", spec.Env, func(e v1alpha1.ServerEnvVar) string { return e.Name }); err != nil {
		return err
	}
	return validateTeams(spec.Teams)
}

// listener is namespace/gateway or namespace/gateway/section.
var listener = regexp.MustCompile(`^[^/]+/[^/]+(/[^/]+)?$`)

// passwords are what a password in a DSN looks like: in a URL, whatever it needs to be escaped there and is not; among keywords and values, or the
// parameters of a URL; and a parameter whose name nobody can read. The schema has the same.
var passwords = regexp.MustCompile(`(?s)://.*:.*@|(^|[\s?&;])(?i:(ssl)?password)\s*=|[?&;][^=&;]*%`)

func validateDatabase(d v1alpha1.ServerDatabase) error {
	sources := 0
	for _, set := range []bool{d.DSN != nil, d.PostgresClusterRef != nil, d.TenantRef != nil} {
		if set {
			sources++
		}
	}
	switch {
	case sources != 1:
		return errors.New("spec.database: set exactly one of dsn, postgresClusterRef and tenantRef")
	case d.PasswordSecretRef != nil && d.DSN == nil:
		return errors.New("spec.database.passwordSecretRef: belongs to dsn")
	case d.PostgresClusterRef != nil && d.PostgresClusterRef.Name == "":
		return errors.New("spec.database.postgresClusterRef.name: required")
	case d.PostgresClusterRef != nil && clusterVersions[d.PostgresClusterRef.Kind] == "":
		return errors.New("spec.database.postgresClusterRef.kind: must be postgresql or Cluster")
	case d.TenantRef != nil && d.TenantRef.Name == "":
		return errors.New("spec.database.tenantRef.name: required")
	case d.DSN != nil && carriesPassword(*d.DSN):
		return errors.New("spec.database.dsn: must not carry a password: use passwordSecretRef")
	}
	return nil
}

// carriesPassword tells whether a DSN holds a password. Nothing of the DSN may be in a message.
func carriesPassword(dsn string) bool { return passwords.MatchString(dsn) }

func validateTeams(teams []v1alpha1.ServerTeam) error {
	if err := unique("spec.teams", teams, func(t v1alpha1.ServerTeam) string { return t.Name }); err != nil {
		return err
	}
	for i, t := range teams {
		path := fmt.Sprintf("spec.teams[%d]", i)
		if errs := validation.IsDNS1123Label(t.Name); len(errs) > 0 {
			return fmt.Errorf("%s.name: %s", path, errs[0])
		}
		if t.Escalation != nil {
			for j, l := range t.Escalation.Levels {
				if err := validateDuration(fmt.Sprintf("%s.escalation.levels[%d].timeout", path, j), l.Timeout); err != nil {
					return err
				}
			}
		}
		if err := unique(path+".deadmanSwitches", t.DeadmanSwitches, func(d v1alpha1.ServerDeadmanSwitch) string { return d.Name }); err != nil {
			return err
		}
		for j, d := range t.DeadmanSwitches {
			if err := validateDuration(fmt.Sprintf("%s.deadmanSwitches[%d].timeout", path, j), d.Timeout); err != nil {
				return err
			}
		}
		if err := unique(path+".integrations", t.Integrations, func(n v1alpha1.ServerIntegration) string { return n.Name }); err != nil {
			return err
		}
		for j, n := range t.Integrations {
			if errs := validation.IsDNS1123Subdomain(n.SecretName); len(errs) > 0 {
				return fmt.Errorf("%s.integrations[%d].secretName: %s", path, j, errs[0])
			}
		}
	}
	return nil
}

func validateDuration(path string, d oncallv1alpha1.Duration) error {
	if v, err := time.ParseDuration(string(d)); err != nil || v < time.Second || v%time.Second != 0 {
		return fmt.Errorf("%s: must be at least 1s in whole seconds, for example 15m or 1h30m", path)
	}
	return nil
}

// unique names of the items of a list.
func unique[T any](path string, items []T, name func(T) string) error {
	var seen []string
	for i, item := range items {
		switch n := name(item); {
		case n == "":
			return fmt.Errorf("%s[%d].name: required", path, i)
		case slices.Contains(seen, n):
			return fmt.Errorf("%s[%d].name: must not repeat", path, i)
		default:
			seen = append(seen, n)
		}
	}
	return nil
}
