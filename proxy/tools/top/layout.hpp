// Arranges items and texts as the lines of a page.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "proxy/tools/top/screen.hpp"
#include "proxy/tools/top/view.hpp"

namespace reprise::tools {

/// Appends the lines at the end.
void append(std::vector<Line>&, std::vector<Line>);
/// Arranges the items on as many lines as needed, separated by two blanks. Breaks only items that are longer
/// than a line.
std::vector<Line> flowed(std::vector<Line> items, const Display&);
/// Returns one line with the first items that fit. No item is cut.
Line fitting(std::vector<Line> items, const Display&);
/// Appends a heading with text beside it, wrapped into lines. On a narrow terminal, the text is below the
/// heading.
void append_row(std::vector<Line>&, std::string_view heading, std::string_view text, const Display&,
                Style style = Style::plain);
/// Returns at most `rows` lines of a page, beginning at line `from`.
std::vector<Line> scrolled_to(std::vector<Line>, std::size_t from, std::size_t rows);
/// Returns the index of the first visible item in a list that is shown in pages of `rows` items. The page
/// contains the item at index `place`.
std::size_t page_of(std::size_t place, std::size_t rows);

}  // namespace reprise::tools
