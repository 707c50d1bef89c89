#include "proxy/server/intercept/authority_files.hpp"

#include <fcntl.h>
#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "proxy/net/io/tls_error.hpp"
#include "proxy/net/tls/tls_files.hpp"
#include "proxy/server/intercept/key_owner.hpp"
#include "proxy/server/intercept/secret_memory.hpp"

namespace reprise::server {
namespace {

constexpr std::string_view certificate_path = "intercept.ca.certificate";
constexpr std::string_view key_path = "intercept.ca.key";
constexpr std::size_t largest = std::size_t{64} * 1024;

[[noreturn]] void refuse(std::string_view path, const std::string& file, const std::string& why) {
  throw InterceptError(std::string(path) + ": " + file + " " + why);
}

std::string error_words() { return std::generic_category().message(errno); }

std::string command(std::string_view verb, const std::string& at) {
  return "reprise ca " + std::string(verb) + " -c " + at;
}

// Explains why a file cannot be read. The usual reason: root made the key, and the key belongs to root and
// not to the service.
std::string unreadable(const std::string& file, int why, const std::string& at) {
  std::string text = "cannot be read: " + std::generic_category().message(why);
  struct stat state {};
  if (why == ENOENT) return text + "; create it with " + command("init", at);
  if (why != EACCES) return text;
  const std::string self = user_name(::geteuid());
  if (::stat(file.c_str(), &state) != 0)
    return text + "; the user " + self + " has no access to the folder of that file";
  return text + "; the file belongs to " + user_name(state.st_uid) + ", and reprise runs as " + self +
         ": run chown " + self + " " + file;
}

// Creates every missing parent folder. Whatever the umask, other users may enter the folders, because
// applications read the bundle there.
void make_folders(const std::filesystem::path& folder) {
  if (folder.empty() || std::filesystem::exists(folder)) return;
  make_folders(folder.parent_path());
  constexpr mode_t for_all = S_IRWXU | S_IRGRP | S_IXGRP | S_IROTH | S_IXOTH;
  if (::mkdir(folder.c_str(), for_all) == 0) static_cast<void>(::chmod(folder.c_str(), for_all));
}

/// Closes the descriptor in its destructor.
class OpenFile {
 public:
  OpenFile(const std::string& file, int flags, mode_t mode = 0)
      : descriptor_(::open(file.c_str(), flags | O_CLOEXEC, mode)) {}
  ~OpenFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  OpenFile(OpenFile&&) = delete;
  OpenFile& operator=(OpenFile&&) = delete;

  explicit operator bool() const { return descriptor_ >= 0; }
  int get() const { return descriptor_; }
  bool write(std::string_view content) const {
    while (!content.empty()) {
      const ssize_t written = ::write(descriptor_, content.data(), content.size());
      if (written < 0 && errno != EINTR) return false;
      if (written > 0) content.remove_prefix(static_cast<std::size_t>(written));
    }
    return ::fsync(descriptor_) == 0;
  }

 private:
  int descriptor_;
};

// Parses a private key. The text and the key stay in the memory for secrets.
PrivateKey parse_key(const SecretBytes& text, std::size_t size) {
  const std::unique_ptr<BIO, decltype(&BIO_free)> memory(
      BIO_new_mem_buf(text.text(size).data(), static_cast<int>(size)), BIO_free);
  char* name = nullptr;
  char* header = nullptr;
  unsigned char* bytes = nullptr;
  long length = 0;
  constexpr unsigned flags = PEM_FLAG_SECURE | PEM_FLAG_EAY_COMPATIBLE;
  PrivateKey key;
  if (memory != nullptr && PEM_read_bio_ex(memory.get(), &name, &header, &bytes, &length, flags) == 1) {
    const unsigned char* at = bytes;
    key.reset(d2i_AutoPrivateKey(nullptr, &at, length));
    OPENSSL_secure_clear_free(bytes, static_cast<std::size_t>(length));
    OPENSSL_secure_free(name);
    OPENSSL_secure_free(header);
  }
  return key;
}

}  // namespace

PrivateKey read_key(const config::Intercept& settings, const std::string& at) {
  const std::string& file = settings.key;
  const OpenFile opened(file, O_RDONLY | O_NONBLOCK);  // opening a pipe does not block
  if (!opened) refuse(key_path, file, unreadable(file, errno, at));
  struct stat state {};
  if (::fstat(opened.get(), &state) != 0 || (state.st_mode & (S_IRWXG | S_IRWXO)) != 0)
    refuse(key_path, file,
           "can be read by other users, and anyone who has it can impersonate every listed host: run chmod "
           "600 " +
               file);
  SecretBytes text(largest);
  std::size_t size = 0;
  ssize_t got = 1;
  while (got > 0 && size < text.room()) {
    got = ::read(opened.get(), text.data() + size, text.room() - size);
    if (got > 0) size += static_cast<std::size_t>(got);
  }
  PrivateKey key = parse_key(text, size);
  if (key == nullptr)
    refuse(key_path, file,
           "cannot be used: " + net::trouble_with(file, net::TlsFile::key, settings.certificate));
  return key;
}

namespace {

Certificate read_certificate(const std::string& file, const std::string& at) {
  if (const std::string trouble = net::trouble_with_kind(file); !trouble.empty())
    refuse(certificate_path, file, "cannot be used: " + trouble);
  const std::unique_ptr<BIO, decltype(&BIO_free)> opened(BIO_new_file(file.c_str(), "r"), BIO_free);
  if (opened == nullptr)
    refuse(certificate_path, file,
           "cannot be read: " + error_words() + "; create it with " + command("init", at));
  Certificate certificate(PEM_read_bio_X509(opened.get(), nullptr, nullptr, nullptr));
  if (certificate == nullptr)
    refuse(certificate_path, file, "cannot be used: " + net::trouble_with(file, net::TlsFile::certificate));
  return certificate;
}

}  // namespace

std::shared_ptr<const Authority> read_authority(const config::Intercept& settings, const std::string& at) {
  Certificate certificate = read_certificate(settings.certificate, at);
  PrivateKey key = read_key(settings, at);
  if (X509_check_private_key(certificate.get(), key.get()) != 1) {
    static_cast<void>(net::tls_words());
    refuse(key_path, settings.key,
           "does not match the certificate " + settings.certificate +
               ": name two files that belong together, or make a new certificate for this key with " +
               command("renew", at));
  }
  return std::make_shared<const Authority>(std::move(certificate), std::move(key));
}

void check_authority(const Authority& authority, const config::Intercept& settings, const std::string& at,
                     std::int64_t now) {
  if (const std::string trouble = authority.trouble(now); !trouble.empty())
    refuse(certificate_path, settings.certificate,
           trouble + "; make a new certificate with " + command("renew", at));
  if (const std::string host = authority.first_outside(settings.hosts); !host.empty())
    throw InterceptError("intercept.hosts: " + host + " is not permitted by the name constraints of " +
                         settings.certificate + "; make a new certificate with " + command("renew", at));
}

std::shared_ptr<const Authority> load_authority(const config::Intercept& settings, const std::string& at,
                                                std::int64_t now) {
  auto authority = read_authority(settings, at);
  check_authority(*authority, settings, at, now);
  return authority;
}

void write_new_key(const std::string& file, EVP_PKEY* key) {
  make_folders(std::filesystem::path(file).parent_path());
  const std::optional<Account> owner = owner_of_key_file(file);
  const OpenFile opened(file, O_WRONLY | O_CREAT | O_EXCL, S_IRUSR | S_IWUSR);
  if (!opened && errno == EEXIST)
    refuse(
        key_path, file,
        "already exists and is never replaced: run reprise ca renew to make a new certificate for this key");
  if (!opened) refuse(key_path, file, "cannot be written: " + error_words());
  const std::unique_ptr<BIO, decltype(&BIO_free)> memory(BIO_new(BIO_s_secmem()), BIO_free);
  char* text = nullptr;
  const bool made = memory != nullptr &&
                    PEM_write_bio_PrivateKey(memory.get(), key, nullptr, nullptr, 0, nullptr, nullptr) == 1;
  const long size = made ? BIO_get_mem_data(memory.get(), &text) : 0;
  if (!made || !opened.write({text, static_cast<std::size_t>(size)})) {
    const std::string why = error_words();
    ::unlink(file.c_str());
    refuse(key_path, file, "cannot be written: " + why);
  }
  // If fchown fails, `command_for_owner` later returns the command that repairs this.
  if (owner && ::fchown(opened.get(), owner->user, owner->group) != 0) return;
}

void replace_file(const std::string& file, std::string_view content) {
  make_folders(std::filesystem::path(file).parent_path());
  std::string beside = std::filesystem::path(file).replace_filename("reprise-XXXXXX").string();
  const int descriptor = ::mkostemp(beside.data(), O_CLOEXEC);
  const auto fail = [&] { throw std::runtime_error(file + " cannot be written: " + error_words()); };
  if (descriptor < 0) fail();
  ::close(descriptor);
  const OpenFile opened(beside, O_WRONLY | O_TRUNC);
  constexpr mode_t for_all = S_IRUSR | S_IWUSR | S_IRGRP | S_IROTH;
  if (!opened || !opened.write(content) || ::fchmod(opened.get(), for_all) != 0 ||
      ::rename(beside.c_str(), file.c_str()) != 0) {
    const int why = errno;
    ::unlink(beside.c_str());
    errno = why;
    fail();
  }
}

}  // namespace reprise::server
