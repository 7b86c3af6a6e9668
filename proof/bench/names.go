package main

import (
	"fmt"
	"slices"
	"strings"
)

// What follows are the beginnings of the names of the rows that each task prints,
// as whole as they are known before it is run: -rows looks for them.

func appendNames() []string {
	var names []string
	for _, of := range []string{"append 1 event, ", "append 5 at once, per event, ", "append 1 event, 3 ms apart, "} {
		names = append(names, of+"p50", of+"p99")
	}
	return names
}

// namesOf makes names with the sizes in a format's place for one.
func namesOf(format string, sizes ...int) []string {
	var names []string
	for _, n := range sizes {
		names = append(names, fmt.Sprintf(format, grouped(n)))
	}
	return names
}

func forkNames(n int) []string         { return namesOf("fork at %s events, in process", n) }
func chainNames(sizes ...int) []string { return namesOf("append at %s events", sizes...) }
func listNames(n int) []string         { return namesOf("list %s conversations", n) }
func resumeNames(n int) []string {
	return namesOf("resume at %s events, "+grouped(resumeFiles)+" files", n)
}
func attachNames(n int) []string { return namesOf("jp attach at %s events, 1st byte", n) }

func loadNames(n int) []string {
	return slices.Concat(namesOf("load %s events, loose", n), namesOf("load %s events, packed", n))
}

func commandNames(n int) []string {
	return slices.Concat(namesOf("jp print --last 1 at %s events", n), namesOf("jp fork at %s events", n),
		namesOf(fmt.Sprintf("jp fork --until %d of %%s", n/2), n))
}

func grepNames(n, m int) []string {
	of := fmt.Sprintf("%s × %s events", grouped(n), grouped(m))
	names := []string{"first grep, " + of}
	for _, s := range soughts {
		names = append(names, "grep "+of+", "+s.name)
	}
	return names
}

func snapshotNames(n int) (names []string) {
	for _, side := range []string{snapBefore, snapAfter, snapOne, snapNamed} {
		names = append(names, namesOf("snapshot %s files, "+side, n)...)
	}
	return names
}

func sizeNames(n int) []string {
	return slices.Concat(namesOf("packed, %s events of", n, n/2), namesOf("loose, %s events of", n, n/2))
}

func memoryNames(n int) []string {
	return slices.Concat(namesOf("memory, appending %s events", n), namesOf("memory, loading %s events", n), namesOf("memory, ls of %s", n/10))
}

func peakOfGrepNames() []string {
	return []string{fmt.Sprintf("memory, grep %d × %d events", searchedBriefly, searchedEvents)}
}

func listRunningNames() []string {
	return []string{fmt.Sprintf("jp ls with %d processes", listedProcesses)}
}

func askingNames() []string {
	const words = "model's word to the terminal, "
	return append(namesOf("jp query to request, %s files", askedFiles), words+"p50", words+"p99")
}

func startNames() []string { return []string{"jp version", "jp ls of 1 conversation"} }

// names says whether -rows names a task, by its own name.
func (b *bench) names(t task) bool { return b.rows == nil || b.rows.MatchString(t.name) }

// shows says whether a row of a task is asked for: by its name or the task's. A
// row that says why its task failed is.
func (b *bench) shows(t task, r row) bool {
	if r.Failed != "" || b.names(t) || b.rows.MatchString(r.Name) {
		return true
	}
	return slices.ContainsFunc(t.rows, func(name string) bool { return strings.HasPrefix(r.Name, name) && b.rows.MatchString(name) })
}

// allNames lists the tasks with their rows.
func allNames() string {
	var list strings.Builder
	for _, t := range tasks {
		fmt.Fprintf(&list, "\n  %s: %s", t.name, strings.Join(t.rows, "; "))
		if t.kind == longest {
			list.WriteString(" (with -full)")
		}
	}
	return list.String()
}
