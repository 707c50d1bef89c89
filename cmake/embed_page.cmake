# A script: writes OUTPUT, a C++ source with the status page of FOLDER. The page's script consists of the files SCRIPTS, in that order.
# Indentation and comment lines are removed, which is possible because no text of the page extends over several lines.
set(script "\"use strict\";\n")
foreach(file ${SCRIPTS})
  file(READ ${FOLDER}/${file} text)
  string(APPEND script "${text}")
endforeach()
file(READ ${FOLDER}/index.html document)
file(READ ${FOLDER}/style.css style)
foreach(part script document style)
  string(REGEX REPLACE "\n +" "\n" ${part} "${${part}}")
  string(REGEX REPLACE "\n// [^\n]*" "" ${part} "${${part}}")
endforeach()
file(WRITE ${OUTPUT} "#include \"proxy/server/admin/status_page.hpp\"

namespace reprise::server {

PageTexts page_texts() {
  return {R\"page(${document})page\", R\"page(${style})page\", R\"page(${script})page\"};
}

}  // namespace reprise::server
")
