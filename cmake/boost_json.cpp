// Boost.JSON is a header library: this is its one compiled source.
#include <boost/json/src.hpp>
