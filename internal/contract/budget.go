package contract

// budget returns the values that the rules are about and that are not too large to be looked into, and whether all of them together
// are too much. Sizes are all that it looks at.
func (f *findings) budget(rules []compiledRule, data map[string][]byte) (readable map[string][]byte, over bool) {
	readable = map[string][]byte{}
	total := 0
	read := func(key string) {
		value, ok := data[key]
		if !ok {
			return
		}
		if len(value) > MaxValueBytes {
			f.violation(key, RuleSize, ReasonValueTooLarge)
			return
		}
		if _, again := readable[key]; again {
			return
		}
		readable[key] = value
		total += len(value)
	}
	for _, r := range rules {
		read(r.Name)
		if key := r.privateKey(); key != "" {
			read(key)
		}
	}
	if total > MaxTotalBytes {
		f.violation("", RuleSize, ReasonEvaluationBudgetExceeded)
		return readable, true
	}
	return readable, false
}

// patternBudget says whether the patterns may run. When they would be too much work together then none of them runs: which ones would
// still fit depends on their order, and a result does not.
func (f *findings) patternBudget(rules []compiledRule, readable map[string][]byte) bool {
	work := int64(0)
	for _, r := range rules {
		if value, ok := readable[r.Name]; ok && r.pattern != nil {
			work += r.size * int64(patternOverhead+len(value))
		}
	}
	if work > MaxPatternWork {
		f.violation("", RulePattern, ReasonEvaluationBudgetExceeded)
		return false
	}
	return true
}
