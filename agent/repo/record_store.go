package repo

import (
	"path/filepath"
	"time"

	"jp/gitstore"
	"jp/gitstore/odb"
)

// RecordStore is the store for a record of other programs' actions. Its events are unsigned, so that the
// conversation may not act, and their author and committer is jp, in UTC. Secrets are replaced as in any
// event. Close closes it.
func (r Standings) RecordStore() (*gitstore.Store, error) {
	if r.repo.records != nil {
		return r.repo.records, nil
	}
	durability := odb.Full
	if r.repo.Config.Store.Durability == "off" {
		durability = odb.Off
	}
	var err error
	r.repo.records, err = gitstore.Open(r.repo.At, gitstore.Options{
		Rewrite: r.repo.Values.rewriter(), Durability: durability, Log: r.repo.Env.logger(), Git: r.repo.Git, Zone: time.UTC,
		User:       func() gitstore.Person { return gitstore.Person{Name: "jp", Email: "jp@jp.invalid"} },
		Repository: r.repo.Standings().Name, HeadsDir: filepath.Join(r.repo.Paths.StateDir, "heads"),
	})
	return r.repo.records, err
}
