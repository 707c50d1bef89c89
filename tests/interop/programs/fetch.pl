# METHOD URL [FILE]: the answer's body to standard output; 1 and the status where that is 400 or above.
use strict;
use warnings;
use HTTP::Request;
use LWP::UserAgent;

my ($method, $url, $file) = @ARGV;
my $request = HTTP::Request->new($method, $url);
if ($file) {
    open(my $in, '<:raw', $file) or die $!;
    local $/;
    $request->content(<$in>);
}
my $agent = LWP::UserAgent->new(env_proxy => 1);
my $answer = $agent->request($request);
die $answer->status_line . "\n" if $answer->code >= 400;
binmode STDOUT;
print $answer->content;
