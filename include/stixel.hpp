/*
 * stixel.hpp - interface of stixeld in C++17: reads frames and writes pairs, on top of <stixel.h>.
 *
 * The interface consists of this header alone. A program links libstixel (pkg-config stixel, or the target
 * stixel::stixel of CMake). The namespace is called stixels, because a C++ namespace cannot have the name of
 * a struct, and ::stixel is the struct of <stixel.h>.
 *
 *	stixels::reader reader("front");
 *
 *	for (stixels::frame frame : reader)	// waits for each frame, until the publisher ends
 *		for (const stixel &s : frame)
 *			if (s.kind == STIXEL_OBJECT)
 *				use(frame.number(), frame.depth_m(s));
 *
 * Errors: functions throw stixels::error, a std::system_error with the text of stixel_strerror(). Each
 * function that may fail has a second form with a std::error_code as its last argument. This form throws
 * nothing, except that a std::vector may throw std::bad_alloc. A program that is compiled without exceptions
 * uses the second form: if the first form fails there, it prints a message and aborts the program. A
 * std::error_code can be compared with std::errc: ec == std::errc::no_such_file_or_directory.
 *
 * A reader and a pair_writer can be moved but not copied. Their destructors close them. A stixels::frame is a
 * view. The frame, and everything that it returns without a copy, belongs to its reader. It stays valid until
 * the next call of the reader's latest, next or reopen, until the next step of a loop, or until the reader is
 * destroyed. Threads: only one thread at a time may use an object (<stixel.h>).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STIXEL_HPP
#define STIXEL_HPP

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <optional>
#include <string>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

#if defined(__has_include)
#if __has_include(<version>)
#include <version>
#endif
#endif
#if defined(__cpp_lib_span)
#include <span>
#endif

#include <stixel.h>
#include <stixel_convert.h>
#include <stixel_pairs.h>

namespace stixels
{

#if defined(__cpp_lib_span)
template <class T> using span = std::span<T>;
#else
/* Replaces std::span before C++20, with the functions that this header needs. */
template <class T> class span
{
      public:
	using element_type = T;
	using value_type = std::remove_cv_t<T>;
	using size_type = std::size_t;
	using iterator = T *;

	constexpr span() noexcept = default;
	constexpr span(T *data, size_type size) noexcept : data_(data), size_(size)
	{
	}

	constexpr T *data() const noexcept
	{
		return data_;
	}
	constexpr size_type size() const noexcept
	{
		return size_;
	}
	constexpr bool empty() const noexcept
	{
		return size_ == 0;
	}
	constexpr T &operator[](size_type i) const noexcept
	{
		return data_[i];
	}
	constexpr T &front() const noexcept
	{
		return data_[0];
	}
	constexpr T &back() const noexcept
	{
		return data_[size_ - 1];
	}
	constexpr iterator begin() const noexcept
	{
		return data_;
	}
	constexpr iterator end() const noexcept
	{
		return data_ + size_;
	}

      private:
	T *data_ = nullptr;
	size_type size_ = 0;
};
#endif

/* ---- errors -------------------------------------------------------------------------------------------- */

/* Category of the errors of libstixel. Values are errno values. */
class error_category final : public std::error_category
{
      public:
	const char *name() const noexcept override
	{
		return "stixel";
	}
	std::string message(int value) const override
	{
		return stixel_strerror(-value);
	}
	std::error_condition default_error_condition(int value) const noexcept override
	{
		return {value, std::generic_category()};
	}
};

inline const std::error_category &category() noexcept
{
	static const error_category the;
	return the;
}

class error : public std::system_error
{
      public:
	error(std::error_code code, const std::string &what) : std::system_error(code, what)
	{
	}
};

namespace detail
{
[[noreturn]] inline void raise(std::error_code code, const std::string &what)
{
#if defined(__cpp_exceptions)
	throw error(code, what);
#else
	std::fprintf(stderr, "%s: %s\n", what.c_str(), code.message().c_str());
	std::abort();
#endif
}

inline std::error_code code_of(int result) noexcept
{
	return {result < 0 ? -result : 0, category()};
}

/* Throws if the code is an error. */
inline void check(const std::error_code &code, const std::string &what)
{
	if (code)
		raise(code, what);
}

/* Converts a timeout to ms for libstixel. -1: wait without a limit. */
inline int ms_of(std::chrono::milliseconds time) noexcept
{
	return time.count() < 0 ? -1 : time.count() > INT32_MAX ? INT32_MAX : static_cast<int>(time.count());
}
} // namespace detail

/* Timeout that never expires. */
inline constexpr std::chrono::milliseconds forever{-1};

/* ---- frames -------------------------------------------------------------------------------------------- */

/*
 * An image plane of a frame, or an image of a pair. Pixel is uint8_t, or uint16_t for a disparity (1/16 px).
 */
template <class Pixel> class image
{
      public:
	image(Pixel *data, std::uint32_t width, std::uint32_t height, std::uint32_t pitch) noexcept
	    : data_(data), width_(width), height_(height), pitch_(pitch)
	{
	}
	/* Returns the width, px. */
	std::uint32_t width() const noexcept
	{
		return width_;
	}
	/* Returns the height, px. */
	std::uint32_t height() const noexcept
	{
		return height_;
	}
	/* Returns the number of bytes from one row to the next. */
	std::uint32_t pitch() const noexcept
	{
		return pitch_;
	}
	Pixel *data() const noexcept
	{
		return data_;
	}
	/* Returns the pixels of row y. Row 0 is the top one. */
	span<Pixel> operator[](std::uint32_t y) const noexcept
	{
		using byte = std::conditional_t<std::is_const_v<Pixel>, const unsigned char, unsigned char>;
		byte *at = reinterpret_cast<byte *>(data_) + std::size_t(y) * pitch_;

		return {reinterpret_cast<Pixel *>(at), width_};
	}

      private:
	Pixel *data_;
	std::uint32_t width_, height_, pitch_;
};

/*
 * Laser scan computed from a frame. Element i of ranges, begins and speeds has the angle options.angle_min + i *
 * options.angle_increment. stixel_scan() defines the ranges.
 */
struct scan {
	stixel_scan_options options;
	std::vector<float> ranges; /* m; +infinity: free, NaN: not seen */
	std::vector<float> begins; /* m; distance from which on the angle was seen */
	std::vector<float> speeds; /* m/s; of the obstacle along the ray: stixel_scan_speeds() */
};

class frame
{
      public:
	explicit frame(const stixel_frame &f) noexcept : f_(f)
	{
	}

	/* Returns the frame for the functions of <stixel.h>. */
	const stixel_frame &get() const noexcept
	{
		return f_;
	}
	const stixel_frame_header &header() const noexcept
	{
		return *f_.header;
	}
	std::uint64_t number() const noexcept
	{
		return f_.header->number;
	}
	std::uint64_t epoch() const noexcept
	{
		return f_.header->epoch;
	}
	std::uint32_t columns() const noexcept
	{
		return f_.header->columns;
	}
	bool blind() const noexcept
	{
		return f_.header->flags & STIXEL_FRAME_BLIND;
	}

	/*
	 * Returns all stixels, column by column, and from bottom to top within a column. A loop over the
	 * frame itself visits the same stixels.
	 */
	span<const ::stixel> stixels() const noexcept
	{
		return {f_.stixels, f_.header->stixel_count};
	}
	const ::stixel *begin() const noexcept
	{
		return f_.stixels;
	}
	const ::stixel *end() const noexcept
	{
		return f_.stixels + f_.header->stixel_count;
	}
	/* Returns the stixels of column u from bottom to top; none if the column does not exist. */
	span<const ::stixel> column(std::uint32_t u) const noexcept
	{
		std::uint32_t count = 0;
		const ::stixel *first = stixel_column(&f_, u, &count);

		return {first, count};
	}
	/*
	 * Returns the distance of a stixel along the optical axis, m. 0: the distance is unknown or infinite,
	 * or the frame has no camera model.
	 */
	double depth_m(const ::stixel &s) const noexcept
	{
		return stixel_depth_m(f_.header, &s);
	}

	/* Return an image of the frame. Empty unless the reader asked for such images with want_images(). */
	std::optional<image<const std::uint8_t>> left() const
	{
		return plane<std::uint8_t>(STIXEL_PLANE_LEFT);
	}
	std::optional<image<const std::uint8_t>> right() const
	{
		return plane<std::uint8_t>(STIXEL_PLANE_RIGHT);
	}
	std::optional<image<const std::uint16_t>> disparity() const
	{
		return plane<std::uint16_t>(STIXEL_PLANE_DISPARITY);
	}

	/*
	 * Returns how far each column is free: stixel_free_space(). options: nullptr: the heights of the frame's
	 * vehicle, and ground of all classes. Empty for bad options.
	 */
	std::vector<stixel_free_column> free_space(const stixel_free_options *options = nullptr) const
	{
		std::vector<stixel_free_column> columns(f_.header->columns);

		if (stixel_free_space(&f_, options, options ? sizeof(*options) : 0, columns.data(),
				      f_.header->columns) < 0)
			columns.clear();
		return columns;
	}
	/* Returns the scan with the usual options. Empty if the frame has no camera model or no road. */
	std::optional<scan> usual_scan() const
	{
		scan s{};

		if (stixel_scan_defaults(&f_, &s.options, sizeof(s.options)) != 1)
			return std::nullopt;
		s.ranges.resize(s.options.count);
		s.begins.resize(s.options.count);
		s.speeds.resize(s.options.count);
		if (stixel_scan_speeds(&f_, &s.options, sizeof(s.options), s.ranges.data(), s.begins.data(),
				       s.speeds.data()) != 1)
			return std::nullopt;
		return s;
	}
	/*
	 * Returns the obstacles as boxes in vehicle coordinates, the nearest first, with the usual options:
	 * stixel_boxes(). Empty for a frame that stixel_boxes() refuses.
	 */
	std::vector<stixel_box> boxes() const
	{
		std::vector<stixel_box> all(256);
		std::int64_t n = stixel_boxes(&f_, nullptr, 0, all.data(), all.size());

		if (n > static_cast<std::int64_t>(all.size())) {
			all.resize(static_cast<std::size_t>(n));
			n = stixel_boxes(&f_, nullptr, 0, all.data(), all.size());
		}
		all.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
		return all;
	}
	/*
	 * Returns points of obstacles or of the ground: stixel_points(). Throws, or sets ec, if an option is
	 * out of range.
	 */
	std::vector<stixel_point> points(const stixel_points_options &options) const
	{
		std::error_code ec;
		std::vector<stixel_point> all = points(options, ec);

		detail::check(ec, "points");
		return all;
	}
	std::vector<stixel_point> points(const stixel_points_options &options, std::error_code &ec) const
	{
		std::int64_t n = stixel_points(&f_, &options, sizeof(options), nullptr, 0);
		std::vector<stixel_point> all(n > 0 ? static_cast<std::size_t>(n) : 0);

		ec = detail::code_of(n < 0 ? static_cast<int>(n) : 0);
		if (n > 0)
			stixel_points(&f_, &options, sizeof(options), all.data(), all.size());
		return all;
	}

      private:
	template <class Pixel> std::optional<image<const Pixel>> plane(unsigned kind) const
	{
		struct stixel_image i;

		if (!stixel_image(&f_, kind, &i))
			return std::nullopt;
		return image<const Pixel>(static_cast<const Pixel *>(i.data), i.width, i.height, i.pitch);
	}

	stixel_frame f_;
};

/* ---- the reader ---------------------------------------------------------------------------------------- */

class reader
{
      public:
	class iterator;

	/* Opens an instance by its name. flags: STIXEL_OPEN_*. */
	explicit reader(const std::string &instance, unsigned flags = 0) : name_(instance)
	{
		detail::check(open(flags), "instance '" + name_ + "'");
	}
	reader(const std::string &instance, unsigned flags, std::error_code &ec) : name_(instance)
	{
		ec = open(flags);
	}
	~reader()
	{
		stixel_close(r_);
	}
	reader(reader &&other) noexcept
	    : name_(std::move(other.name_)), r_(std::exchange(other.r_, nullptr)), lost_(other.lost_)
	{
	}
	reader &operator=(reader &&other) noexcept
	{
		std::swap(name_, other.name_);
		std::swap(r_, other.r_);
		std::swap(lost_, other.lost_);
		return *this;
	}
	reader(const reader &) = delete;
	reader &operator=(const reader &) = delete;

	/* False: the reader could not be opened, or its content was moved to another reader. */
	explicit operator bool() const noexcept
	{
		return r_ != nullptr;
	}
	/* Returns the reader for the functions of <stixel.h>. It still belongs to this object. */
	stixel_reader *get() const noexcept
	{
		return r_;
	}
	const std::string &instance() const noexcept
	{
		return name_;
	}

	/*
	 * Waits for a frame that the reader has not taken yet. false: no frame came in time, or a signal
	 * handler ran. Errors: the publisher ended or died (errc::broken_pipe), or another publisher replaced
	 * it (ESTALE: call reopen()).
	 */
	bool wait(std::chrono::milliseconds timeout)
	{
		std::error_code ec;
		const bool there = wait(timeout, ec);

		fail(ec);
		return there;
	}
	bool wait(std::chrono::milliseconds timeout, std::error_code &ec) noexcept
	{
		const int r = r_ ? stixel_wait(r_, detail::ms_of(timeout)) : -EINVAL;

		interrupted_ = r == -EINTR;
		ec = detail::code_of(interrupted_ ? 0 : r);
		return r > 0;
	}
	/* Takes the newest frame and skips older ones. Empty: there is no new frame. Never waits. */
	std::optional<frame> latest()
	{
		std::error_code ec;
		std::optional<frame> f = latest(ec);

		fail(ec);
		return f;
	}
	std::optional<frame> latest(std::error_code &ec) noexcept
	{
		const stixel_frame *f = nullptr;
		const int r = r_ ? stixel_latest(r_, &f) : -EINVAL;

		return taken(r, f, ec);
	}
	/*
	 * Takes the oldest frame that follows the last one taken. lost() then returns how many frames between
	 * them were overwritten. Never waits.
	 */
	std::optional<frame> next()
	{
		std::error_code ec;
		std::optional<frame> f = next(ec);

		fail(ec);
		return f;
	}
	std::optional<frame> next(std::error_code &ec) noexcept
	{
		const stixel_frame *f = nullptr;
		int r;

		lost_ = 0;
		r = r_ ? stixel_next(r_, &f, &lost_) : -EINVAL;
		return taken(r, f, ec);
	}
	std::uint64_t lost() const noexcept
	{
		return lost_;
	}

	/* Asks the publisher for images. kinds: bits 1u << enum stixel_plane; 0: no images any more. */
	void want_images(unsigned kinds)
	{
		std::error_code ec;

		want_images(kinds, ec);
		fail(ec);
	}
	void want_images(unsigned kinds, std::error_code &ec) noexcept
	{
		ec = detail::code_of(r_ ? stixel_want_images(r_, kinds) : -EINVAL);
	}
	/* Leaves the present publisher and opens the publisher that has the instance's name now. */
	void reopen()
	{
		std::error_code ec;

		reopen(ec);
		fail(ec);
	}
	void reopen(std::error_code &ec) noexcept
	{
		ec = detail::code_of(r_ ? stixel_reopen(r_) : -EINVAL);
	}
	struct stixel_status status() const noexcept
	{
		struct stixel_status s {
		};

		if (r_)
			::stixel_status(r_, &s, sizeof(s));
		return s;
	}

	/*
	 * The reader is a range of the frames that will come. Each step of a loop waits for a frame, and
	 * skips damaged ones. The loop ends if the publisher has ended in order or was replaced, or if a
	 * signal handler ran. It throws if the publisher died. With STIXEL_OPEN_FOLLOW the loop waits for the
	 * next publisher instead.
	 */
	iterator begin();
	iterator end() noexcept;

      private:
	friend class iterator;

	std::error_code open(unsigned flags) noexcept
	{
		return detail::code_of(stixel_open(&r_, name_.c_str(), flags));
	}
	void fail(const std::error_code &ec) const
	{
		detail::check(ec, "instance '" + name_ + "'");
	}
	static std::optional<frame> taken(int r, const stixel_frame *f, std::error_code &ec) noexcept
	{
		ec = detail::code_of(r);
		return r == 1 ? std::optional<frame>(frame(*f)) : std::nullopt;
	}
	/* Waits for the next frame of a loop. Empty: the loop ends. */
	std::optional<frame> step()
	{
		for (;;) {
			std::error_code ec;
			std::optional<frame> f = next(ec);

			if (f)
				return f;
			if (!ec)
				wait(forever, ec);
			if (interrupted_)
				return std::nullopt;
			if (ec.value() == ESTALE ||
			    (ec.value() == EPIPE && status().publisher != STIXEL_PUBLISHER_DIED))
				return std::nullopt;
			if (ec.value() != EBADMSG)
				fail(ec);
		}
	}

	std::string name_;
	stixel_reader *r_ = nullptr;
	std::uint64_t lost_ = 0;
	bool interrupted_ = false;
};

/* Iterator over the frames of a reader. It can pass through them once. */
class reader::iterator
{
      public:
	using iterator_category = std::input_iterator_tag;
	using value_type = frame;
	using difference_type = std::ptrdiff_t;
	using pointer = const frame *;
	using reference = const frame &;

	iterator() noexcept = default;
	explicit iterator(reader &r) : r_(&r)
	{
		++*this;
	}
	reference operator*() const noexcept
	{
		return *f_;
	}
	pointer operator->() const noexcept
	{
		return &*f_;
	}
	iterator &operator++()
	{
		f_ = r_->step();
		return *this;
	}
	void operator++(int)
	{
		++*this;
	}
	friend bool operator==(const iterator &a, const iterator &b) noexcept
	{
		return a.f_.has_value() == b.f_.has_value();
	}
	friend bool operator!=(const iterator &a, const iterator &b) noexcept
	{
		return !(a == b);
	}

      private:
	reader *r_ = nullptr;
	std::optional<frame> f_;
};

inline reader::iterator reader::begin()
{
	return iterator(*this);
}

inline reader::iterator reader::end() noexcept
{
	return iterator();
}

/* ---- the writer of pairs ------------------------------------------------------------------------------- */

/* Writes stereo pairs for a stixeld with source.kind = shared: <stixel_pairs.h>. */
class pair_writer
{
      public:
	/* Memory for the next pair, 8-bit pixels. Fill both images, then call commit(). */
	struct pair {
		image<std::uint8_t> left, right;
		stixel_pairs_images memory;
	};

	pair_writer(const std::string &instance, const stixel_pairs_format &format)
	    : name_(instance), width_(format.width), height_(format.height)
	{
		detail::check(create(format), "instance '" + name_ + "'");
	}
	pair_writer(const std::string &instance, const stixel_pairs_format &format, std::error_code &ec)
	    : name_(instance), width_(format.width), height_(format.height)
	{
		ec = create(format);
	}
	~pair_writer()
	{
		stixel_pairs_close(w_);
	}
	pair_writer(pair_writer &&other) noexcept
	    : name_(std::move(other.name_)), w_(std::exchange(other.w_, nullptr)), width_(other.width_),
	      height_(other.height_)
	{
	}
	pair_writer &operator=(pair_writer &&other) noexcept
	{
		std::swap(name_, other.name_);
		std::swap(w_, other.w_);
		std::swap(width_, other.width_);
		std::swap(height_, other.height_);
		return *this;
	}
	pair_writer(const pair_writer &) = delete;
	pair_writer &operator=(const pair_writer &) = delete;

	explicit operator bool() const noexcept
	{
		return w_ != nullptr;
	}
	/* Returns the writer for the functions of <stixel_pairs.h>. It still belongs to this object. */
	stixel_pairs *get() const noexcept
	{
		return w_;
	}

	/*
	 * Waits until a daemon has accepted the writer. false: no daemon accepted it in time (see why()), or
	 * a signal handler ran.
	 */
	bool connect(std::chrono::milliseconds timeout)
	{
		std::error_code ec;
		const bool there = connect(timeout, ec);

		fail(ec);
		return there;
	}
	bool connect(std::chrono::milliseconds timeout, std::error_code &ec) noexcept
	{
		const int r = w_ ? stixel_pairs_connect(w_, detail::ms_of(timeout)) : -EINVAL;

		ec = detail::code_of(r == -EINTR ? 0 : r);
		return r > 0;
	}
	/*
	 * Waits for memory that the daemon does not use. Empty: no memory became free in time, or a signal
	 * handler ran.
	 */
	std::optional<pair> begin(std::chrono::milliseconds timeout)
	{
		std::error_code ec;
		std::optional<pair> p = begin(timeout, ec);

		fail(ec);
		return p;
	}
	std::optional<pair> begin(std::chrono::milliseconds timeout, std::error_code &ec) noexcept
	{
		stixel_pairs_images to{};
		const int r = w_ ? stixel_pairs_begin(w_, &to, detail::ms_of(timeout)) : -EINVAL;

		ec = detail::code_of(r == -EINTR ? 0 : r);
		if (r <= 0)
			return std::nullopt;
		return pair{{to.left, width_, height_, to.pitch}, {to.right, width_, height_, to.pitch}, to};
	}
	/*
	 * Gives the pair to the daemon. left_ns, right_ns: capture times; both 0: now. false: no daemon takes
	 * the pair, which is dropped and counted; see why().
	 */
	bool commit(const pair &p, std::int64_t left_ns = 0, std::int64_t right_ns = 0)
	{
		std::error_code ec;
		const bool given = commit(p, left_ns, right_ns, ec);

		fail(ec);
		return given;
	}
	bool commit(const pair &p, std::int64_t left_ns, std::int64_t right_ns, std::error_code &ec) noexcept
	{
		const int r = w_ ? stixel_pairs_commit(w_, &p.memory, left_ns, right_ns) : -EINVAL;

		ec = detail::code_of(r == -ENOTCONN || r == -EAGAIN ? 0 : r);
		return r == 0;
	}
	/* Returns why no daemon takes pairs; empty while a daemon does. */
	std::string why() const
	{
		return w_ ? stixel_pairs_why(w_) : "the writer was not created";
	}
	struct stixel_pairs_counters counters() const noexcept
	{
		struct stixel_pairs_counters c {
		};

		if (w_)
			::stixel_pairs_counters(w_, &c, sizeof(c));
		return c;
	}

      private:
	std::error_code create(const stixel_pairs_format &format) noexcept
	{
		return detail::code_of(stixel_pairs_create(&w_, name_.c_str(), &format, sizeof(format)));
	}
	void fail(const std::error_code &ec) const
	{
		if (ec && w_ && *stixel_pairs_why(w_))
			detail::raise(ec, stixel_pairs_why(w_));
		detail::check(ec, "instance '" + name_ + "'");
	}

	std::string name_;
	stixel_pairs *w_ = nullptr;
	std::uint32_t width_, height_;
};

} // namespace stixels
#endif
