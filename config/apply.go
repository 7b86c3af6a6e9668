package config

import (
	"reflect"
	"time"
)

// refusal is the reason why s has no effect, or "". With a tool's command its whole table is refused: the
// rest was written for that command.
func (l *loader) refusal(s setting, tools map[string]Reason) Reason {
	own := false
	if s.origin.Layer == LayerWorkspace && s.path[0] == "tools" {
		reason, named := tools[s.path[1]]
		if reason != "" {
			return reason
		}
		own = named
	}
	switch {
	case s.origin.Layer == LayerWorkspace && s.node.private:
		return ReasonPrivate
	case s.origin.Layer == LayerWorkspace && !l.report.Trusted && l.needsTrust(s):
		return ReasonUntrusted
	case !s.node.security:
		if rule := s.node.tag.Get("tighten"); s.origin.Layer == LayerWorkspace && rule != "" && !tightens(rule, l.values[s.key()], s.value) {
			return ReasonLoosens
		}
		return ""
	case s.origin.Layer == LayerConversation:
		return ReasonConversation
	case s.origin.Layer != LayerWorkspace:
		return ""
	case own && s.path[2] == "questions":
		return ""
	case !tightens(s.node.tag.Get("tighten"), l.values[s.key()], s.value):
		return ReasonLoosens // trusted or not
	case !l.report.Trusted:
		return ReasonUntrusted
	}
	return ""
}

// needsTrust reports whether a workspace's file must be trusted for s by its trust tag: always, or if s is
// looser than the layers below.
func (l *loader) needsTrust(s setting) bool {
	below := l.values[s.key()]
	switch rule := s.node.tag.Get("trust"); rule {
	case "", "always":
		return rule == "always"
	case "timeout":
		return !tightens("shorter", l.toolTime(below), l.toolTime(s.value))
	default:
		return !tightens(rule, below, s.value)
	}
}

// toolTime is the time limit of a tool with the time d of its own, unset or 0 for none.
func (l *loader) toolTime(d any) any {
	if own, _ := d.(time.Duration); own > 0 {
		return own
	}
	return l.values["limits.tool_timeout"]
}

// assign puts value at path below v, which can be set.
func assign(v reflect.Value, path []string, value reflect.Value) {
	if len(path) == 0 {
		if v.Kind() == reflect.Pointer {
			v.Set(reflect.New(v.Type().Elem()))
			v = v.Elem()
		}
		v.Set(value)
		return
	}
	if v.Kind() == reflect.Struct {
		assign(v.Field(fieldIndex(v.Type(), path[0])), path[1:], value)
		return
	}
	if v.IsNil() {
		v.Set(reflect.MakeMap(v.Type()))
	}
	name := reflect.ValueOf(path[0])
	elem := reflect.New(v.Type().Elem()).Elem()
	if old := v.MapIndex(name); old.IsValid() {
		elem.Set(old)
	}
	assign(elem, path[1:], value)
	v.SetMapIndex(name, elem)
}

func fieldIndex(t reflect.Type, name string) int {
	for i := range t.NumField() {
		if t.Field(i).Tag.Get("toml") == name {
			return i
		}
	}
	panic("no field for key " + name) // the schema is built from the same tags
}
