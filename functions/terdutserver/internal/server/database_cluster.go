package server

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/utils/ptr"

	corev1 "k8s.io/api/core/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	commonv1alpha1 "github.com/ryuvia/provider-terdut/apis/common/v1alpha1"
	"github.com/ryuvia/provider-terdut/apis/v1alpha1"
	"github.com/ryuvia/provider-terdut/functions/internal/composite"
)

const (
	postgresPort = 5432
	// sslRequire encrypts and does not verify: neither operator's certificates are signed by somebody that the server knows.
	sslRequire = "require"
	// zalandoRunning is the status of a cluster that takes connections, see ClusterStatusRunning in Zalando's sources.
	zalandoRunning = "Running"
	// cnpgDefault is the database, and its owner, that CloudNativePG makes when a Cluster does not say, see its documentation on bootstrap.
	cnpgDefault = "app"
)

// clusterVersions by kind.
var clusterVersions = map[string]string{
	v1alpha1.ClusterKindZalando:       "acid.zalan.do/v1",
	v1alpha1.ClusterKindCloudNativePG: "postgresql.cnpg.io/v1",
}

// A cluster of either operator, as far as it is read.
type cluster = composite.Object[struct {
	// Databases of a Zalando cluster, with their owners.
	Databases map[string]string `json:"databases"`
	// Bootstrap of a CloudNativePG cluster.
	Bootstrap struct {
		InitDB   *cnpgDatabase `json:"initdb"`
		Recovery *cnpgDatabase `json:"recovery"`
	} `json:"bootstrap"`
}, struct {
	xpv2.ConditionedStatus `json:",inline"`

	PostgresClusterStatus string `json:"PostgresClusterStatus"`
}]

// A cnpgDatabase is the database that a CloudNativePG cluster is made with.
type cnpgDatabase struct {
	Database string `json:"database"`
	Owner    string `json:"owner"`
	Secret   *struct {
		Name string `json:"name"`
	} `json:"secret"`
}

// resolveCluster takes a database of a cluster of this namespace.
func (s *server) resolveCluster(ref v1alpha1.PostgresClusterReference) error {
	c, asked, err := required[cluster](s, requiredCluster)
	switch {
	case err != nil:
		return err
	case !asked:
		s.database = databaseWaits("It is not known yet whether %s %q is ready.", ref.Kind, ref.Name)
		return nil
	case c == nil:
		s.database = databaseMissing(v1alpha1.ReasonNotFound, "There is no %s %q in this namespace.", ref.Kind, ref.Name)
		return nil
	}
	// What the spec does not say is taken from the cluster.
	host := ref.Name + "." + s.subject.Namespace + ".svc"
	database, user := ptr.Deref(ref.Database, ""), ptr.Deref(ref.User, "")
	var secret string
	ready := c.Status.PostgresClusterStatus == zalandoRunning
	if ref.Kind == v1alpha1.ClusterKindCloudNativePG {
		ready = c.Status.GetCondition(xpv2.TypeReady).Status == corev1.ConditionTrue
		host = ref.Name + "-rw." + s.subject.Namespace + ".svc"
		database, user, secret = cnpgNames(c, database, user)
	} else {
		database, user, secret = zalandoNames(c, database, user)
	}
	switch {
	case database == "" || user == "":
		s.database = databaseMissing(v1alpha1.ReasonAmbiguous,
			"%s %q does not name the one database with its owner: set spec.database.postgresClusterRef.database and user.", ref.Kind, ref.Name)
		return nil
	case !ready:
		s.database = databaseWaits("%s %q is not ready; its own status says why.", ref.Kind, ref.Name)
		return nil
	}
	password := ref.PasswordSecretRef
	if password == nil {
		password = &commonv1alpha1.LocalSecretKeySelector{Name: secret, Key: keyPassword}
	}
	s.database = databaseReady(connection{dsn: dsn(user, ptr.Deref(ref.Host, host), postgresPort, database, sslRequire), password: password})
	return nil
}

// zalandoNames completes the names of a database of a Zalando cluster, and of the Secret of its user.
func zalandoNames(c *cluster, database, user string) (string, string, string) {
	if all := slices.Collect(maps.Keys(c.Spec.Databases)); database == "" && len(all) == 1 {
		database = all[0]
	}
	if user == "" {
		user = c.Spec.Databases[database]
	}
	// An underscore is legal in a role's name and not in that of a Secret: the operator makes a dash of it.
	return database, user, strings.ReplaceAll(user, "_", "-") + "." + c.Metadata.Name + ".credentials.postgresql.acid.zalan.do"
}

// cnpgNames completes the names of the database of a CloudNativePG cluster, and of the Secret of its owner.
func cnpgNames(c *cluster, database, user string) (string, string, string) {
	made, secret := c.Spec.Bootstrap.InitDB, c.Metadata.Name+"-app"
	if made == nil {
		made = c.Spec.Bootstrap.Recovery
	}
	if made == nil {
		made = &cnpgDatabase{}
	}
	if made.Secret != nil {
		secret = made.Secret.Name
	}
	if database == "" {
		if database = made.Database; database == "" {
			database = cnpgDefault
		}
	}
	if user == "" {
		if user = made.Owner; user == "" {
			user = database
		}
	}
	return database, user, secret
}
