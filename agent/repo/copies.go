package repo

import (
	"fmt"

	"jp/backup"
	"jp/conversation"
)

// CopyResults are the files of a backup: those that were written, and those without a copy.
func CopyResults(written, without []backup.Entry) []FileResult {
	files := make([]FileResult, 0, len(written)+len(without))
	for i := range written {
		files = append(files, FileResult{Path: conversation.QuotePath(written[i].Path), Done: true})
	}
	for i := range without {
		files = append(files, FileResult{Path: conversation.QuotePath(without[i].Path), Reason: WhyNoCopy(&without[i])})
	}
	return files
}

// WhyNoCopy names a file without a copy.
func WhyNoCopy(e *backup.Entry) string {
	switch {
	case !e.There():
		return "a tool made it, and jp does not look into folders that git ignores, nor into other repositories"
	case e.Why == backup.WhyFolder:
		return "jp has no copy of it: jp does not look into folders that git ignores, nor into other repositories"
	}
	return fmt.Sprintf("jp has no copy of it: %s, %s", e.Extent(), e.Why)
}
