# METHOD URL [FILE]: the answer's body to standard output; 1 and the status where that is 400 or above.
require 'net/http'

method, url, file = ARGV
uri = URI(url)
request = Net::HTTP.const_get(method.capitalize).new(uri)
request.body = File.binread(file) if file
answer = Net::HTTP.start(uri.host, uri.port, use_ssl: uri.scheme == 'https', max_retries: 0) { |http| http.request(request) }
abort(answer.code) if answer.code.to_i >= 400
$stdout.binmode.write(answer.body)
