// Package postgresql is the client for PostgreSQL 15 and later that the postgresql kinds work through. It knows nothing of Kubernetes.
//
// # Connections
//
// An Instance is one server seen with one set of credentials. All its connections together, whatever they are for, are bounded by
// Config.MaxConnections; an operation holds one connection at a time, so that operations cannot wait for each other in a circle.
// Almost everything runs in the registry database: roles and databases are shared by all databases of a server, so one connection, and
// where it matters one transaction, sees the registry's rows and the objects that they speak of. Those connections are reused. Sessions
// in a tenant's database and login checks are closed after use, and a closed one is waited for until the server has let go of it.
// Session settings and advisory locks are used, so the server is reached directly and not through a transaction pooler.
//
// # Ownership
//
// The registry decides whose a role or a database is: one row for each, in a schema of our own, in a database of our own. Nobody but
// management roles can write there. Names, comments and owners of objects prove nothing by themselves.
//
// A crash between any two statements leaves a state that the next pass recognises:
//
//   - Reserve writes both rows in one transaction, after it saw under an advisory lock that neither object exists (or that the rows are
//     ours already). A crash leaves both rows or none.
//   - CREATE ROLE and the role's OID in its row are one transaction, because roles are transactional and visible from every database.
//     So a role that exists while its row has no OID was made by somebody else after the reservation: it is not ours.
//   - CREATE DATABASE cannot run in a transaction. A database that exists while its row has no OID is ours exactly when it belongs to
//     the role whose OID our role row holds. Only a management role, a superuser or a member of that role can make such a database, the
//     role itself has no CREATEDB, nobody is made its member, and the row was written when the database did not exist. The advisory
//     lock, held from the check to the record, keeps a second process of ours from creating on behalf of a row that is gone.
//   - The database is created closed to connections and opened after PUBLIC has lost its privileges. A crash between leaves it closed,
//     which is drift and repaired like any other.
//   - A drop removes the object first and its row last (for a role in one transaction). A row whose object is gone is finished by
//     removing the row.
//
// # Secrets
//
// The server only ever receives SCRAM-SHA-256 verifiers. Errors are rebuilt from SQLSTATE, message and address; they never carry a
// connection string, a statement or a parameter, and do not unwrap to errors of the driver, which do.
package postgresql
