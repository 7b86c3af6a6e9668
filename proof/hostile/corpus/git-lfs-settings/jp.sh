echo three >b.bin
"$JP" query -y -m "$MODEL" --new 'Look.' >"$BASE/out" 2>&1 || true
"$JP" undo -y >>"$BASE/out" 2>&1 || true
"$JP" fork @3 --worktree "$BASE/beside-lfs" >>"$BASE/out" 2>&1 || true
rm -rf "$BASE/beside-lfs"
git worktree prune
