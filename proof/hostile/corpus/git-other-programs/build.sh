echo one >a.txt
git add a.txt
git commit -qm a

for key in core.editor sequence.editor merge.d.driver interactive.diffFilter uploadpack.packObjectsHook receive.procReceiveRefs \
	diff.guitool difftool.d.cmd mergetool.d.cmd merge.tool trailer.t.command trailer.t.cmd man.viewer man.m.cmd browser.b.cmd \
	web.browser sendemail.smtpServer sendemail.sendmailCmd imap.tunnel instaweb.httpd guitool.g.cmd submodule.s.update \
	gc.recentObjectsHook core.gitProxy remote.o.vcs remote.o.receivepack bundle.b.uri hook.h.command ssh.variant \
	gpg.ssh.defaultKeyCommand gpg.ssh.program gpg.x509.program; do
	git config "$key" "$EVIL"
done
git config trailer.t.key T
git config merge.d.name d
git config merge.default d
echo "* merge=d" >.gitattributes
git config core.attributesFile "$PWD/.gitattributes"
