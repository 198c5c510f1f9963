// Package credential keeps the keys that the provider has been given by on-call servers: one Secret for each Bootstrap and each Team, in
// the provider's own namespace and nowhere else.
//
// Nothing that users can write leads to a credential. A Secret is found by the identity of the live object that it belongs to, its uid
// included, and what it holds repeats that identity. Endpoint, ids and key are in it together, so that a key is never sent to an address
// that it was not made for. What an object's status shows of it is for people.
package credential

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ryuvia/provider-terdut/internal/clients/terdut"
)

// SecretType is the type of the Secrets. The API server lets nobody change the type of a Secret.
const SecretType corev1.SecretType = "terdut.ryuvia.com/credential"

// Annotations of the Secrets, so that people, and watches of metadata alone, see whose they are. Nothing else follows them.
const (
	annotationKind      = "terdut.ryuvia.com/owner-kind"
	annotationNamespace = "terdut.ryuvia.com/owner-namespace"
	annotationName      = "terdut.ryuvia.com/owner-name"
)

// labelManagedBy marks the Secrets as the provider's.
const labelManagedBy, managedBy = "app.kubernetes.io/managed-by", "provider-terdut"

// An Owner is the object that a credential belongs to.
type Owner struct {
	Kind      string
	Namespace string
	Name      string
	// UID is empty for a credential that was retained: it waits for the next object of that name and server.
	UID types.UID
}

// OwnerOf returns an object of a kind as an owner.
func OwnerOf(kind string, o client.Object) Owner {
	return Owner{Kind: kind, Namespace: o.GetNamespace(), Name: o.GetName(), UID: o.GetUID()}
}

// secretName is the name of the Secret with the owner's credential.
func (o Owner) secretName() string {
	return "terdut-" + strings.ToLower(o.Kind) + "-" + digest(o.Kind, o.Namespace, o.Name, string(o.UID))
}

// digest is the same for the same parts, and can be guessed for no others.
func digest(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d:%s", len(p), p)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// A Credential is what the provider needs to work on a server on behalf of one object.
type Credential struct {
	Owner Owner

	// Endpoint of the server, in the form of terdut.Client.Endpoint. The key goes nowhere else.
	Endpoint string
	// CABundle that the server is verified with, PEM. Empty is the system's.
	CABundle string

	// Server tells a server from one that was made anew at the same endpoint: it changes when the provider makes the first user. Empty is
	// a server whose first user somebody else made.
	Server string
	// Through is the object whose credential reaches the whole server, for a Team. Its Kind is empty when there is none that is kept here.
	Through Owner

	// Config is the provider config that a Team has its server from, without a uid. Its Kind is empty for credentials that are older than this.
	Config Owner

	// Pending is what is being created on the server at this moment: a Team's team by its name, a Bootstrap's account as PendingAccount. While
	// it is set, something of that name that appeared since is this owner's. Of a Bootstrap it may be PendingDeletion, too.
	Pending string
	// TeamID on the server, 0 before there is a team.
	TeamID int64
	// Made tells a team from another one with the same id: it changes when the Team has made a team, or taken one over. It is empty for
	// credentials that are older than it.
	Made string
	// TeamName that the team was given last, and TeamStored what the server made of it.
	TeamName   string
	TeamStored string
	// ServiceAccountID that Token is of, 0 before there is one.
	ServiceAccountID int64
	// KeyID of Token.
	KeyID int64
	// Trigger of the rotation that Token belongs to.
	Trigger string
	// Token is the key in use, empty before there is one.
	Token terdut.Secret
	// AdminToken of the server's first user. It is there from the moment the user is made until Token is.
	AdminToken terdut.Secret
	// Joined is true for an account that somebody else made: it is not deleted.
	Joined bool
	// Minting is true from just before a key is asked for until what interrupted attempts left behind is revoked. LastKeyID is the highest
	// id of a key that the account had then, 0 when it had none. Keys are numbered in the order in which they are made.
	Minting   bool
	LastKeyID int64
	// RetiredKeyID is a key that Token has replaced and that is to be revoked, 0 when there is none.
	RetiredKeyID int64
	// Lost says by which attempt it was found out that the server has users and lets the provider in no more. Empty means that it does.
	Lost string
	// Suspended is why the owner's children must not change anything now, but may delete; empty when they may.
	Suspended string

	// version of the Secret that this was read from, empty when it is not stored yet.
	version string
}

// What may be pending of a Bootstrap.
const (
	// PendingAccount is set from just before the account is asked for until its key is stored.
	PendingAccount = "account"
	// PendingDeletion is set from just before the server is asked to delete the account.
	PendingDeletion = "deletion"
)

// New returns a credential of an owner that is not stored yet.
func New(o Owner) *Credential { return &Credential{Owner: o} }

// SecretName is the name of the Secret, in the provider's own namespace.
func (c *Credential) SecretName() string {
	if c.Owner.UID == "" {
		return retainedName(c.Owner, c.Endpoint)
	}
	return c.Owner.secretName()
}

// Stored is true once there is a Secret.
func (c *Credential) Stored() bool { return c != nil && c.version != "" }

// Complete is true when there is a key to work with. It may be called on nil.
func (c *Credential) Complete() bool { return c != nil && c.Token != "" }

// Keys of the Secret's data.
const (
	keyOwnerKind      = "ownerKind"
	keyOwnerNamespace = "ownerNamespace"
	keyOwnerName      = "ownerName"
	keyOwnerUID       = "ownerUID"
	keyEndpoint       = "endpoint"
	keyCABundle       = "caBundle"
	keyServer         = "server"
	keyThrough        = "through"
	keyConfig         = "config"
	keyPending        = "pending"
	keyTeamID         = "teamID"
	keyMade           = "made"
	keyTeamName       = "teamName"
	keyTeamStored     = "teamStored"
	keyAccountID      = "serviceAccountID"
	keyKeyID          = "keyID"
	keyTrigger        = "keyRotationTrigger"
	keyToken          = "token"
	keyAdminToken     = "adminToken"
	keyJoined         = "joined"
	keyMinting        = "minting"
	keyLastKeyID      = "lastKeyID"
	keyRetiredKeyID   = "retiredKeyID"
	keyLost           = "lost"
	keySuspended      = "suspended"
)

// secret that holds the credential.
func (c *Credential) secret(namespace string) *corev1.Secret {
	s := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: c.SecretName(), ResourceVersion: c.version,
			Labels: map[string]string{labelManagedBy: managedBy},
			Annotations: map[string]string{
				annotationKind: c.Owner.Kind, annotationNamespace: c.Owner.Namespace, annotationName: c.Owner.Name,
			},
		},
		Type: SecretType,
		Data: map[string][]byte{},
	}
	for k, v := range map[string]string{
		keyOwnerKind: c.Owner.Kind, keyOwnerNamespace: c.Owner.Namespace, keyOwnerName: c.Owner.Name, keyOwnerUID: string(c.Owner.UID),
		keyEndpoint: c.Endpoint, keyCABundle: c.CABundle, keyServer: c.Server, keyThrough: c.Through.encode(),
		keyConfig: c.Config.encode(), keyPending: c.Pending, keyTeamID: number(c.TeamID), keyMade: c.Made, keyTeamName: c.TeamName, keyTeamStored: c.TeamStored,
		keyAccountID: number(c.ServiceAccountID), keyKeyID: number(c.KeyID),
		keyJoined: flag(c.Joined), keyMinting: flag(c.Minting), keyLastKeyID: number(c.LastKeyID), keyRetiredKeyID: number(c.RetiredKeyID), keyLost: c.Lost,
		keyTrigger: c.Trigger, keyToken: string(c.Token), keyAdminToken: string(c.AdminToken), keySuspended: c.Suspended,
	} {
		if v != "" {
			s.Data[k] = []byte(v)
		}
	}
	return s
}

// A ForeignError says that a Secret which should hold an owner's credential holds something else. Its content is not used.
type ForeignError struct{ Secret types.NamespacedName }

// Error implements error.
func (e *ForeignError) Error() string {
	return fmt.Sprintf("Secret %q does not hold the credential that belongs there: somebody changed it", e.Secret)
}

// decode a Secret that must hold the credential of an owner.
func decode(s *corev1.Secret, o Owner) (*Credential, error) {
	get := func(k string) string { return string(s.Data[k]) }
	found := Owner{Kind: get(keyOwnerKind), Namespace: get(keyOwnerNamespace), Name: get(keyOwnerName), UID: types.UID(get(keyOwnerUID))}
	foreign := &ForeignError{Secret: types.NamespacedName{Namespace: s.Namespace, Name: s.Name}}
	if s.Type != SecretType || found != o {
		return nil, foreign
	}
	c := &Credential{
		Owner: o, Endpoint: get(keyEndpoint), CABundle: get(keyCABundle), Server: get(keyServer),
		Pending: get(keyPending), Made: get(keyMade), TeamName: get(keyTeamName), TeamStored: get(keyTeamStored), Trigger: get(keyTrigger),
		Token: terdut.Secret(get(keyToken)), AdminToken: terdut.Secret(get(keyAdminToken)), Suspended: get(keySuspended),
		Joined: get(keyJoined) == flag(true), Minting: get(keyMinting) == flag(true), Lost: get(keyLost),
		version: s.ResourceVersion,
	}
	ok := c.Through.decode(get(keyThrough)) && c.Config.decode(get(keyConfig))
	for k, n := range map[string]*int64{
		keyTeamID: &c.TeamID, keyAccountID: &c.ServiceAccountID, keyKeyID: &c.KeyID, keyRetiredKeyID: &c.RetiredKeyID, keyLastKeyID: &c.LastKeyID,
	} {
		v := get(k)
		if v == "" {
			continue
		}
		id, err := strconv.ParseInt(v, 10, 64)
		ok = ok && err == nil && id > 0
		*n = id
	}
	if !ok || c.Endpoint == "" || (c.Token != "" && (c.ServiceAccountID == 0 || c.KeyID == 0)) {
		return nil, foreign
	}
	return c, nil
}

func number(n int64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}

func flag(set bool) string {
	if !set {
		return ""
	}
	return "true"
}

// encode an owner. Namespaces, names and uids hold no slash.
func (o Owner) encode() string {
	if o.Kind == "" {
		return ""
	}
	return strings.Join([]string{o.Kind, o.Namespace, o.Name, string(o.UID)}, "/")
}

func (o *Owner) decode(s string) bool {
	if s == "" {
		return true
	}
	p := strings.Split(s, "/")
	if len(p) != 4 {
		return false
	}
	*o = Owner{Kind: p[0], Namespace: p[1], Name: p[2], UID: types.UID(p[3])}
	return true
}
