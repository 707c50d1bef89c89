# Run as a script: writes the *.yaml files of FOLDER into OUTPUT, a C++ source that has their names and texts.
file(GLOB files ${FOLDER}/*.yaml)
list(SORT files)
set(rows "")
foreach(file ${files})
  cmake_path(GET file STEM name)
  file(READ ${file} text)
  string(APPEND rows "    {\"${name}\", R\"preset(${text})preset\"},\n")
endforeach()
file(WRITE ${OUTPUT} "#include <array>

#include \"config/presets.hpp\"

namespace reprise::config {

std::span<const PresetText> preset_texts() {
  static constexpr auto texts = std::to_array<PresetText>({
${rows}  });
  return texts;
}

}  // namespace reprise::config
")
