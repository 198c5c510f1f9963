-- The role that the provider works with on a PostgreSQL server, 15 to 18. It is no superuser. Run this once per server, as a role that
-- may (on a hosted server its administrator role):
--
--   psql -d postgres -f postgresql-management-role.sql
--
-- and then give it a password with psql's \password, which sends a verifier only:
--
--   \password terdut_admin
--
-- The name of the role is free. User name and password go to the Secret that the ProviderConfig or ClusterProviderConfig names.

-- Part 1: required.
--
-- CREATEDB creates the tenants' databases and the registry database, which then belongs to this role; nobody else gets in there.
-- CREATEROLE creates the tenants' owner roles and gives them passwords. From PostgreSQL 16 on it reaches only roles that this role
-- created or has ADMIN OPTION on; on 15 it reaches every role that is no superuser.
-- INHERIT is the default and needed: the role makes itself a member of each owner role, and acts for it without SET ROLE.
CREATE ROLE terdut_admin LOGIN INHERIT CREATEDB CREATEROLE NOSUPERUSER NOREPLICATION NOBYPASSRLS;

-- Part 2: where PUBLIC has lost what it has by default.
--
-- The database that the config names (postgres by default) is where the provider looks before there is a registry database.
GRANT CONNECT ON DATABASE postgres TO terdut_admin;
-- The system identifier tells that the server is still the same one, see IdentityChanged in the operations guide.
GRANT EXECUTE ON FUNCTION pg_catalog.pg_control_system() TO terdut_admin;

-- Part 3: optional, for terminateConnections.
--
-- Without it the provider ends sessions of the owner role only, and says so when others (a monitor, a pooler, a person) are in a
-- database that is to be dropped. Nothing but a superuser ends sessions of superusers.
GRANT pg_signal_backend TO terdut_admin;

-- Part 4: optional, for roles that were made by hand and are handed over with an adoption, on PostgreSQL 16 or later. For each:
--
--   GRANT legacy_owner TO terdut_admin WITH ADMIN OPTION;
--
-- Extensions that are not trusted (SELECT name FROM pg_available_extension_versions WHERE superuser AND NOT trusted) need a superuser,
-- or what the host of the server grants in its place.
