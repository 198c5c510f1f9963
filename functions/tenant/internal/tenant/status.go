package tenant

import (
	"cmp"
	"strconv"

	commonv1alpha1 "github.com/ryuvia/provider-terdut/apis/common/v1alpha1"
	"github.com/ryuvia/provider-terdut/apis/v1alpha1"
)

// status of the composite, whole: Crossplane removes a field that is left out.
func (t *tenant) status(phase v1alpha1.TenantPhase, generation int64) map[string]any {
	consumer, known := t.consumer()
	if !known {
		// What applications were told last still holds.
		port, _ := strconv.ParseInt(t.recordValue(keyPort), 10, 32) // Zero is left out below.
		consumer.Host, consumer.HostAddr, consumer.Port = t.recordValue(keyHost), t.recordValue(keyHostAddr), int32(port)
	}

	s := map[string]any{
		"phase":              string(phase),
		"database":           t.names.database,
		"owner":              t.names.owner,
		"secretRef":          map[string]any{"name": t.names.secret},
		"observedGeneration": generation,
	}
	optional := map[string]string{
		"host":           consumer.Host,
		"hostaddr":       consumer.HostAddr,
		"kvURL":          t.recordFacts().URL,
		"deletionPolicy": string(t.deletionPolicy()),
	}
	for k, v := range optional {
		if v != "" {
			s[k] = v
		}
	}
	if consumer.Port > 0 {
		s["port"] = consumer.Port
	}
	return s
}

// deletionPolicy in force: Delete only when everything that holds data was told so, because a change may not have arrived when the
// Tenant is deleted. It is unknown while nothing holds data.
func (t *tenant) deletionPolicy() commonv1alpha1.DeletionPolicy {
	database, record := t.databaseFacts().DeletionPolicy, t.recordFacts().DeletionPolicy
	if database != "" && record != "" && database != record {
		return commonv1alpha1.DeletionRetain
	}
	return cmp.Or(database, record)
}
