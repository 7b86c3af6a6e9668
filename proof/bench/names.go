package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// The beginnings of the names of the rows that each task prints, as whole as they are known
// before it is run: -rows looks for them. {n} is the task's size.
const (
	appendNames     = "append 1 event, p50; append 1 event, p99; append 5 at once, per event, p50; append 5 at once, per event, p99; append 1 event, 3 ms apart, p50; append 1 event, 3 ms apart, p99"
	forkNames       = "fork at {n} events, in process"
	chainNames      = "append at {n} events"
	listNames       = "jp ls of {n}, without caches; jp ls of {n}, with caches; jp ls -n 5 of {n}; jp status, one of {n}"
	appendRefsNames = "append through git, files; append through git, reftable"
	listRefsNames   = "list {n} through git, files; list {n} through git, reftable"
	resumeNames     = "resume at {n} events, 1,000 files"
	attachNames     = "jp attach at {n} events, 1st byte"
	loadNames       = "load {n} events, loose; load {n} events, packed"
	flatNames       = "jp print --last 1 at {n} events; jp log -n 5 at {n} events; jp status at {n} events; " +
		"jp show @-1 at {n} events; jp show --ref @-1 at {n} events; jp diff @-3..@-1 at {n} events; jp undo --dry-run at {n} events; " +
		"jp show @middle at {n} events; jp show --ref @middle at {n} events; jp diff @middle-2..@middle at {n} events; " +
		"memory, end and middle of {n} events"
	forkCommandNames = "jp fork at {n} events; jp fork --until {until} of {n}"
	encodingNames    = "jp query, a call more, 3.3 MB behind"
	largeFileNames   = "growth, 20 changes of a 40 MB file"
	grepNames        = "first grep, {n} events; grep {n} events, rare word; grep {n} events, absent word; grep {n} events, everyday word; grep {n} events, in every one; grep {n} events, regexp"
	grepForksNames   = "grep 10 forks of {n} events; search cache, 10 forks of {n} events"
	snapshotNames    = "snapshot {n} files, clean; snapshot {n} files, after a tool; snapshot {n} files, 1 changed; snapshot {n} files, 1 named"
	confinedNames    = "jp query, 20 programs, confined"
	untrackedNames   = "jp query, 1 program, {n} untracked"
	creatingNames    = "jp query, 11 new files, {n} files"
	sizeNames        = "packed, {n} events of; packed, {half} events of; loose, {n} events of; loose, {half} events of"
	memoryNames      = "memory, appending {n} events; memory, ls of {tenth}"
	wholePeakNames   = "memory, verifying {n} events; memory, first search of {n} events"
	peakOfGrepNames  = "memory, grep {n} events"
	blameNames       = "first jp blame, {n} events; jp blame of 1,000 lines, {n} events; jp blame of 1,000 lines, CPU, {n} events; memory, first blame, {n} events"
	listRunningNames = "jp ls with {n} processes"
	askingNames      = "jp query to request, {n} files; model's word to the terminal, p50; model's word to the terminal, p99"
	startNames       = "jp version; jp ls of 1 conversation"
)

// named are names with a size in them, or with the two numbers of a search.
func named(names string, n int, events ...int) []string {
	size := grouped(n)
	for _, m := range events {
		size += " × " + grouped(m)
	}
	return strings.Split(strings.NewReplacer("{n}", size, "{half}", grouped(n/2), "{until}", strconv.Itoa(n/2), "{tenth}", grouped(n/10)).Replace(names), "; ")
}

// names reports whether -rows names a task, by its own name.
func (b *bench) names(t task) bool { return b.rows == nil || b.rows.MatchString(t.name) }

// shows reports whether a row of a task is asked for: by its name or the task's. A
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
		if t.kind >= longest {
			list.WriteString(" (with -full)")
		}
	}
	return list.String()
}
