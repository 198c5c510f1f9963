package postgresql

import "fmt"

// An Op names an operation in errors and for Config.Hook. It reads on after "cannot".
type Op string

// Operations. Those that write a statement are given to Config.Hook.
const (
	OpValidate  Op = "use"
	OpConfigure Op = "use configuration"
	OpConnect   Op = "connect to database"
	OpLogin     Op = "log in to database"
	OpRead      Op = "read facts of"
	OpLock      Op = "lock database name"

	OpCommit            Op = "commit"
	OpCreateRegistry    Op = "create registry database"
	OpMigrateRegistry   Op = "set up registry in database"
	OpReserve           Op = "reserve"
	OpRecord            Op = "record"
	OpForget            Op = "remove record of"
	OpCreateRole        Op = "create role"
	OpAlterRole         Op = "alter role"
	OpSetPassword       Op = "set password of role"
	OpDropRole          Op = "drop role"
	OpGrantMembership   Op = "become member of role"
	OpCreateDatabase    Op = "create database"
	OpAlterDatabase     Op = "alter database"
	OpRevokePublic      Op = "revoke privileges of PUBLIC on database"
	OpTerminateSessions Op = "drop database and its sessions"
	OpDropDatabase      Op = "drop database"
	OpSetRole           Op = "act as role"
	OpCreateExtension   Op = "create extension"
	OpUpdateExtension   Op = "update extension"
	OpMoveExtension     Op = "move extension"
)

// privilege that an operation needs, for a person who wants to grant it.
func (o Op) privilege(subject string) string {
	switch o {
	case OpCreateRegistry, OpCreateDatabase:
		return "CREATEDB, and being able to SET ROLE to the owner"
	case OpMigrateRegistry, OpReserve, OpRecord, OpForget:
		return "ownership of schema " + registrySchema + " in the registry database"
	case OpCreateRole:
		return "CREATEROLE"
	case OpAlterRole, OpSetPassword, OpDropRole, OpGrantMembership:
		return fmt.Sprintf("ADMIN OPTION on role %q, with CREATEROLE", subject)
	case OpSetRole:
		return fmt.Sprintf("membership in role %q", subject)
	case OpAlterDatabase, OpRevokePublic, OpDropDatabase:
		return fmt.Sprintf("ownership of database %q, through inherited membership in its owner", subject)
	case OpTerminateSessions:
		return "pg_signal_backend"
	case OpCreateExtension, OpUpdateExtension, OpMoveExtension:
		return "superuser, or what the host's provider grants in its place for this extension"
	case OpConnect, OpLogin:
		return fmt.Sprintf("CONNECT on database %q", subject)
	default:
		return "see the server's message"
	}
}
