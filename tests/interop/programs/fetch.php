<?php
// METHOD URL [FILE]: the answer's body to standard output; 1 and the status where that is 400 or above. Streams know no variable.
[, $method, $url] = $argv;
$proxy = getenv('PROXY_OF_THE_CONTEXT');
$http = ['method' => $method] + (isset($argv[3]) ? ['content' => file_get_contents($argv[3])] : []);
$http += $proxy ? ['proxy' => $proxy, 'request_fulluri' => !str_starts_with($url, 'https')] : [];
$body = file_get_contents($url, false, stream_context_create(['http' => $http]));
if ($body === false) {
    exit(1);
}
echo $body;
