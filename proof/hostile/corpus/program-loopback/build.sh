echo one >a.txt
git add a.txt
git commit -qm a
cat >serve.pl <<'EOF'
# The user's services: each one that comes is told to the program of the mark, but for the user at the end.
use IO::Socket::UNIX; use IO::Select;
my $select = IO::Select->new(map { IO::Socket::UNIX->new(Local => $_, Listen => 9) || die "$_: $!" } $ARGV[0], "\0$ARGV[0]");
open(my $ready, '>', "$ARGV[0].ready"); close $ready;
while (my @ready = $select->can_read) {
	for my $client (map { scalar $_->accept } @ready) {
		if (<$client> eq "end\n") { print $client "over\n" } else { system($ENV{EVIL}, 'a socket was reached') }
	}
}
EOF
cat >end.pl <<'EOF'
# Returns when the services have told of all who came before.
use IO::Socket::UNIX;
for my $path ($ARGV[0], "\0$ARGV[0]") {
	my $socket = IO::Socket::UNIX->new(Peer => $path) || die "$!";
	$socket->print("end\n"); $socket->flush; <$socket>;
}
EOF
cat >reach.pl <<'EOF'
# Goes to each of them, and to a service of its own.
use IO::Socket::INET; use IO::Socket::UNIX;
for my $path ($ARGV[0], "\0$ARGV[0]") {
	if (my $socket = IO::Socket::UNIX->new(Peer => $path)) { $socket->print("x\n"); close $socket }
}
my ($host, $path) = $ARGV[1] =~ m{http://([^/]+)(/.*)};
for my $peer ($host, $host =~ s/127\.0\.0\.1/localhost/r, $host =~ s/127\.0\.0\.1/0.0.0.0/r) {
	my $http = IO::Socket::INET->new(PeerAddr => $peer, Timeout => 5) or next;
	$http->print("GET $path HTTP/1.0\r\n\r\n"); my @answer = <$http>;
}
my $own = IO::Socket::INET->new(LocalAddr => '127.0.0.1', Listen => 1) or exit;
print "own service reached\n" if IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $own->sockport);
EOF
