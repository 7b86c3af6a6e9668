echo one >a.txt
git add a.txt
git commit -qm a
for format in openpgp x509 ssh; do
	git config "gpg.$format.program" "$EVIL"
done
git config gpg.format ssh
git config gpg.ssh.defaultKeyCommand "$EVIL"
git config gpg.ssh.allowedSignersFile allowed
git config gpg.ssh.revocationFile revoked
git config log.showSignature true
git config commit.gpgSign true
git config tag.gpgSign true
git config push.gpgSign true
