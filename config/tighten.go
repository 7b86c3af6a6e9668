package config

import (
	"slices"
	"time"
)

// Positions on a ladder from loose to tight. The empty value is the default of an unset key: runs are asked
// for, results are delivered.
var (
	policyLadder = map[string]int{"auto": 0, "defaults": 1, "": 2, "queue": 2, "defer": 2, "deny": 3}
	runLadder    = map[string]int{"unattended": 0, "": 1, "ask": 1, "edit": 1, "skip": 2}
	resultLadder = map[string]int{"": 0, "unattended": 0, "ask": 1, "edit": 1, "skip": 2}
	diskLadder   = map[string]int{"off": 0, "full": 1}
)

// tightens reports whether a workspace may replace below by value, by the key's tighten tag, or without trust
// by its trust tag. below is nil if the lower layers leave the key unset.
func tightens(rule string, below, value any) bool {
	switch rule {
	case "":
		return true
	case "policy":
		return climbs(policyLadder, below, value)
	case "mode":
		return climbs(runLadder, below, value)
	case "result":
		return climbs(resultLadder, below, value)
	case "on":
		return value == true || below != true
	case "off":
		return value == false || below == true
	case "user":
		return value == "user" || value == below
	case "new":
		return below == nil
	case "durable":
		return climbs(diskLadder, below, value)
	case "shorter":
		return lower(below.(time.Duration), value.(time.Duration))
	case "lower":
		if limit, ok := value.(float64); ok {
			return lower(below.(float64), limit)
		}
		return lower(below.(int64), value.(int64))
	case "fewer":
		had, _ := below.([]string)
		return !slices.ContainsFunc(value.([]string), func(v string) bool { return !slices.Contains(had, v) })
	case "narrower":
		// Each new rule begins with one that was there.
		had, _ := below.([][]string)
		for _, rule := range value.([][]string) {
			if !slices.ContainsFunc(had, func(h []string) bool { return under(rule, h) }) {
				return false
			}
		}
		return true
	}
	return false
}

func climbs(ladder map[string]int, below, value any) bool {
	from, _ := below.(string)
	return ladder[value.(string)] >= ladder[from]
}

// lower compares limits, with 0 as unlimited.
func lower[N int64 | float64 | time.Duration](below, value N) bool {
	return below == 0 || value > 0 && value <= below
}
