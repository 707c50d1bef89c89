# A script: writes OUTPUT, a C++ source with the names and texts of the *.yaml files in FOLDER.
file(GLOB names RELATIVE ${FOLDER} ${FOLDER}/*.yaml)
list(TRANSFORM names REPLACE "[.]yaml$" "")
list(SORT names)
set(rows "")
foreach(name ${names})
  file(READ ${FOLDER}/${name}.yaml text)
  string(APPEND rows "    {\"${name}\", R\"preset(${text})preset\"},\n")
endforeach()
file(WRITE ${OUTPUT} "#include <array>

#include \"config/presets/presets.hpp\"

namespace reprise::config {

std::span<const PresetText> preset_texts() {
  static constexpr auto texts = std::to_array<PresetText>({
${rows}  });
  return texts;
}

}  // namespace reprise::config
")
