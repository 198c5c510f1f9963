package postgresql

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
)

// A State of a record.
type State string

// States of a record.
const (
	// StateReserved: the name is ours, the object may not be there yet.
	StateReserved State = "reserved"
	// StateCreated: the object was made or adopted.
	StateCreated State = "created"
	// StateRetained: the owner let go of the object and asked to keep it.
	StateRetained State = "retained"
)

// A Record is a row of the registry.
type Record struct {
	Kind           Kind
	Name           string
	State          State
	OID            uint32 // 0 until the object was made.
	ServerIdentity string
	Owner          Owner
	DeletionPolicy string
	// CredentialVersion is what RecordCredential was given last: the version of the credential that was proven to log in.
	CredentialVersion    string
	CreatedAt, UpdatedAt time.Time
}

// ServerFacts are what a session says about its server.
type ServerFacts struct {
	// Version in the form of server_version_num, for example 150018.
	Version int
	// Identity is the system identifier of the database cluster: it survives restarts, failover and restore from a base backup,
	// and differs between clusters. Empty when the management role may not read it.
	Identity string
	ReadOnly bool
	// TLSVersion, for example "TLS 1.3"; empty without TLS.
	TLSVersion string
}

// RoleFacts of an existing role.
type RoleFacts struct {
	OID             uint32
	Login           bool
	Inherit         bool
	ConnectionLimit int
	// Expires says that the role's password has an end of validity.
	Expires bool
	// Privileges that a tenant's role must not have: SUPERUSER, CREATEDB, CREATEROLE, REPLICATION, BYPASSRLS.
	Privileges []string
}

// DatabaseFacts of an existing database.
type DatabaseFacts struct {
	OID              uint32
	Owner            string
	OwnerOID         uint32
	Encoding         string
	Collate, CType   string
	LocaleProvider   string // libc, icu or builtin
	ConnectionLimit  int
	AllowConnections bool
	Template         bool
	// PublicPrivileges are those of CONNECT and TEMPORARY that every role has.
	PublicPrivileges []string
}

// Facts about a database and the role that goes with it. Objects and records that do not exist are nil.
type Facts struct {
	Server         ServerFacts
	Role           *RoleFacts
	Database       *DatabaseFacts
	RoleRecord     *Record
	DatabaseRecord *Record
	// ActsAsOwner says that the management role has the owner role's privileges and can set its role to it.
	ActsAsOwner bool

	names     Names
	protected map[Kind]bool
}

// Names of a database and the role that owns it.
type Names struct{ Database, Role string }

func (n Names) validate() error {
	if err := ValidateName("database", n.Database); err != nil {
		return err
	}
	return validateRole(n.Role)
}

// Observe reads the facts about a database and a role. It takes two statements on one connection and writes nothing. Without a registry
// database it reads from Config.Database, and there are no records.
func (i *Instance) Observe(ctx context.Context, n Names) (*Facts, error) {
	if err := n.validate(); err != nil {
		return nil, err
	}
	var f *Facts
	read := func(s *session) (err error) {
		f, err = s.facts(ctx, n, false)
		return err
	}
	err := i.with(ctx, management, i.cfg.RegistryDatabase, read)
	if hasCode(err, "3D000") {
		err = i.with(ctx, management, i.cfg.Database, read)
	}
	return f, err
}

const factsSQL = `SELECT
	coalesce(r.oid, 0), coalesce(r.rolcanlogin, false), coalesce(r.rolinherit, false), coalesce(r.rolconnlimit, 0),
	coalesce(r.rolvaliduntil < 'infinity', false),
	array_remove(ARRAY[CASE WHEN r.rolsuper THEN 'SUPERUSER' END, CASE WHEN r.rolcreatedb THEN 'CREATEDB' END,
		CASE WHEN r.rolcreaterole THEN 'CREATEROLE' END, CASE WHEN r.rolreplication THEN 'REPLICATION' END,
		CASE WHEN r.rolbypassrls THEN 'BYPASSRLS' END], NULL),
	coalesce(d.oid, 0), coalesce(pg_get_userbyid(d.datdba), ''), coalesce(d.datdba, 0), coalesce(pg_encoding_to_char(d.encoding), ''),
	coalesce(d.datcollate, ''), coalesce(d.datctype, ''),
	CASE d.datlocprovider WHEN 'c' THEN 'libc' WHEN 'i' THEN 'icu' WHEN 'b' THEN 'builtin' ELSE '' END,
	coalesce(d.datconnlimit, 0), coalesce(d.datallowconn, false), coalesce(d.datistemplate, false),
	ARRAY(SELECT a.privilege_type FROM aclexplode(coalesce(d.datacl, acldefault('d', d.datdba))) a
		WHERE a.grantee = 0 AND a.privilege_type IN ('CONNECT', 'TEMPORARY') ORDER BY 1),
	coalesce(pg_has_role(r.oid, 'USAGE') AND pg_has_role(r.oid, $3), false), current_user = $1::name
	FROM (VALUES (1)) one LEFT JOIN pg_roles r ON r.rolname = $1 LEFT JOIN pg_database d ON d.datname = $2`

const recordsSQL = `SELECT kind, name, state, coalesce(oid, 0), server_identity, control_plane, owner_uid, owner_namespace, owner_name, holder,
	deletion_policy, credential_version, created_at, updated_at
	FROM ` + registryTable + ` WHERE (kind = 'role' AND name = $1) OR (kind = 'database' AND name = $2) ORDER BY kind`

// facts reads objects and records; with lock, inside a transaction, the records are locked against change.
func (s *session) facts(ctx context.Context, n Names, lock bool) (*Facts, error) {
	f := &Facts{names: n, Server: s.server()}
	if s.database == s.i.cfg.RegistryDatabase {
		if err := s.records(ctx, f, lock); err != nil {
			return nil, err
		}
	}
	setRole := "MEMBER"
	if s.version >= 160000 {
		setRole = "SET" // Since PostgreSQL 16 a member need not have it.
	}
	r, d, self := RoleFacts{}, DatabaseFacts{}, false
	_, err := s.row(ctx, OpRead, n.Database, factsSQL, []any{n.Role, n.Database, setRole},
		&r.OID, &r.Login, &r.Inherit, &r.ConnectionLimit, &r.Expires, &r.Privileges,
		&d.OID, &d.Owner, &d.OwnerOID, &d.Encoding, &d.Collate, &d.CType, &d.LocaleProvider, &d.ConnectionLimit, &d.AllowConnections,
		&d.Template, &d.PublicPrivileges, &f.ActsAsOwner, &self)
	if err != nil {
		return nil, err
	}
	system := []string{"postgres", "template0", "template1", s.i.cfg.Database, s.i.cfg.RegistryDatabase}
	f.protected = map[Kind]bool{
		KindDatabase: d.Template || slices.Contains(system, n.Database),
		KindRole:     self || len(r.Privileges) > 0 || d.OID == 0 || d.OwnerOID != r.OID,
	}
	if r.OID != 0 {
		f.Role = &r
	}
	if d.OID != 0 {
		f.Database = &d
	}
	return f, nil
}

func (s *session) server() ServerFacts {
	return ServerFacts{Version: s.version, Identity: s.identity, ReadOnly: s.readOnly(), TLSVersion: s.tlsVersion()}
}

// records fills in the records. A registry that is not set up yet has none.
func (s *session) records(ctx context.Context, f *Facts, lock bool) error {
	sql := recordsSQL
	if lock {
		sql += " FOR UPDATE"
	}
	records, err := rows(ctx, s, OpRead, f.names.Database, sql, []any{f.names.Role, f.names.Database}, func(row pgx.CollectableRow) (*Record, error) {
		r := &Record{}
		err := row.Scan(&r.Kind, &r.Name, &r.State, &r.OID, &r.ServerIdentity, &r.Owner.ControlPlane, &r.Owner.UID, &r.Owner.Namespace,
			&r.Owner.Name, &r.Owner.Holder, &r.DeletionPolicy, &r.CredentialVersion, &r.CreatedAt, &r.UpdatedAt)
		return r, err
	})
	if hasCode(err, "42P01", "3F000") {
		return nil
	}
	for _, r := range records {
		switch r.Kind {
		case KindRole:
			f.RoleRecord = r
		case KindDatabase:
			f.DatabaseRecord = r
		}
	}
	return err
}

// DecideDatabase says whose the database is.
func (f *Facts) DecideDatabase(o Owner, c Consents) Decision {
	q := f.question(KindDatabase, o, c)
	q.Record = f.DatabaseRecord
	if f.Database != nil {
		q.OID = f.Database.OID
		// See the package documentation: it belongs to the role that the same owner's record names.
		q.Proven = f.DatabaseRecord != nil && f.RoleRecord != nil && f.DatabaseRecord.Owner == f.RoleRecord.Owner &&
			f.RoleRecord.OID != 0 && f.RoleRecord.OID == f.Database.OwnerOID && f.RoleRecord.ServerIdentity == f.Server.Identity
	}
	return Decide(q)
}

// DecideRole says whose the role is.
func (f *Facts) DecideRole(o Owner, c Consents) Decision {
	q := f.question(KindRole, o, c)
	q.Record = f.RoleRecord
	if f.Role != nil {
		q.OID = f.Role.OID
	}
	return Decide(q)
}

func (f *Facts) question(k Kind, o Owner, c Consents) Question {
	return Question{Kind: k, Owner: o, Database: f.names.Database, Consents: c, ServerIdentity: f.Server.Identity, Protected: f.protected[k]}
}

// Preflight says whether both names could be reserved now: nil, or a ConflictError, DataLostError or IdentityChangedError.
func (f *Facts) Preflight(o Owner, c Consents) error {
	if err := f.DecideDatabase(o, c).Err(KindDatabase, f.names.Database); err != nil {
		return err
	}
	return f.DecideRole(o, c).Err(KindRole, f.names.Role)
}

// Err is nil when the object is free, ours or may be taken over; else it says why not.
func (d Decision) Err(k Kind, name string) error {
	switch {
	case d.Verdict != Free && d.Verdict != Ours && d.Verdict != Adoptable:
		return &ConflictError{Kind: k, Name: name, Decision: d}
	case d.Condition == Replaced && !d.Adopt:
		return &IdentityChangedError{Kind: k, Name: name}
	case d.Condition == Lost && k == KindDatabase && !d.Recreate:
		return &DataLostError{Database: name}
	default:
		return nil
	}
}
