echo one >a.txt
git add a.txt
git commit -qm a
git config gpg.program "$EVIL"
git config log.showSignature true
git config commit.gpgSign true
git config user.signingKey x
