package openbao

import (
	"context"

	"github.com/ryuvia/provider-terdut/internal/clients/openbao"
)

// API is all that the resources ask of a server. Errors are those of the client: resources tell them apart with its Is functions, and
// whatever stands between may wrap them or add its own.
type API interface {
	PolicyAPI
	KubernetesAuthRoleAPI
	AppRoleRoleAPI
}

// PolicyAPI is what openbao_policy asks for.
type PolicyAPI interface {
	ReadPolicy(ctx context.Context, name string) (string, error)
	WritePolicy(ctx context.Context, name, policy string) error
	DeletePolicy(ctx context.Context, name string) error
}

// KubernetesAuthRoleAPI is what openbao_kubernetes_auth_role asks for.
type KubernetesAuthRoleAPI interface {
	ReadKubernetesAuthRole(ctx context.Context, mount, name string) (*openbao.KubernetesAuthRole, error)
	WriteKubernetesAuthRole(ctx context.Context, mount, name string, role openbao.KubernetesAuthRole) error
	DeleteKubernetesAuthRole(ctx context.Context, mount, name string) error
}

// AppRoleRoleAPI is what openbao_approle_role asks for.
type AppRoleRoleAPI interface {
	ReadAppRoleRole(ctx context.Context, mount, name string) (*openbao.AppRoleRole, error)
	WriteAppRoleRole(ctx context.Context, mount, name string, role openbao.AppRoleRole) error
	DeleteAppRoleRole(ctx context.Context, mount, name string) error
}

var _ API = &openbao.Client{}
