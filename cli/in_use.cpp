#include "in_use.hpp"

#include "scaledot/machine.hpp"

namespace scaledot::cli {

int threads_in_use(int threads) { return threads > 0 ? threads : machine().threads; }

}  // namespace scaledot::cli
