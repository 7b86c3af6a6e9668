echo one >a.txt
git add a.txt
git commit -qm a
cat >serve.pl <<'EOF'
# The user's services: each one that comes is told to the program of the mark.
use IO::Socket::UNIX; use IO::Select;
my $select = IO::Select->new(map { IO::Socket::UNIX->new(Local => $_, Listen => 9) || die "$_: $!" } $ARGV[0], "\0$ARGV[0]");
open(my $ready, '>', "$ARGV[0].ready"); close $ready;
while (my @ready = $select->can_read) { for (@ready) { $_->accept; system($ENV{EVIL}, 'a socket was reached') } }
EOF
cat >reach.pl <<'EOF'
# Goes to each of them, and to a service of its own.
use IO::Socket::INET; use IO::Socket::UNIX;
my ($host, $path) = $ARGV[0] =~ m{http://([^/]+)(/.*)};
for my $peer ($host, $host =~ s/127\.0\.0\.1/localhost/r, $host =~ s/127\.0\.0\.1/127.0.0.2/r, $host =~ s/127\.0\.0\.1/0.0.0.0/r) {
	my $http = IO::Socket::INET->new(PeerAddr => $peer, Timeout => 5) or next;
	print $http "GET $path HTTP/1.0\r\n\r\n"; my @answer = <$http>;
}
for my $path ($ARGV[1], "\0$ARGV[1]") { my $socket = IO::Socket::UNIX->new(Peer => $path) and print $socket "x" }
my $own = IO::Socket::INET->new(LocalAddr => '127.0.0.1', Listen => 1) or exit;
print "own service reached\n" if IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $own->sockport);
EOF
