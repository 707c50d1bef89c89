// The exit codes of the program.
#pragma once

namespace reprise::cli {

inline constexpr int exit_ok = 0;
inline constexpr int exit_runtime = 1;
inline constexpr int exit_usage = 2;
inline constexpr int exit_cannot_bind = 69;
inline constexpr int exit_bad_configuration = 78;

}  // namespace reprise::cli
