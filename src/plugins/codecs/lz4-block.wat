;; Decodes one block of LZ4 (lz4_Block_format.md of lz4/lz4), in memory that is used again and again.
;; Everything is copied in steps of 16 bytes, up to 15 more than asked for: both spans have spare room behind them.
(module
  (memory (export "memory") 1)

  ;; Copies $length bytes in steps of 16. The spans may overlap, with $from at least 16 bytes in front of $to.
  (func $copy (param $to i32) (param $from i32) (param $length i32)
    (local $end i32)
    (local.set $end (i32.add (local.get $to) (local.get $length)))
    (loop $step
      (v128.store align=1 (local.get $to) (v128.load align=1 (local.get $from)))
      (local.set $from (i32.add (local.get $from) (i32.const 16)))
      (local.set $to (i32.add (local.get $to) (i32.const 16)))
      (br_if $step (i32.lt_u (local.get $to) (local.get $end)))))

  ;; Repeats what lies $distance (1 to 15) bytes in front of $to, until $length bytes are written.
  (func $repeat (param $to i32) (param $distance i32) (param $length i32)
    (local $end i32)
    (local $step i32)
    (local.set $end (i32.add (local.get $to) (local.get $length)))
    ;; Byte by byte as far as the next multiple of the distance that is at least 16.
    (local.set $step (i32.mul (local.get $distance)
      (i32.div_u (i32.add (i32.const 15) (local.get $distance)) (local.get $distance))))
    (local.set $length (select (local.get $length) (local.get $step) (i32.lt_u (local.get $length) (local.get $step))))
    (local.set $length (i32.add (local.get $to) (local.get $length)))
    (loop $byte
      (i32.store8 (local.get $to) (i32.load8_u (i32.sub (local.get $to) (local.get $distance))))
      (local.set $to (i32.add (local.get $to) (i32.const 1)))
      (br_if $byte (i32.lt_u (local.get $to) (local.get $length))))
    (if (i32.lt_u (local.get $to) (local.get $end))
      (then (call $copy (local.get $to) (i32.sub (local.get $to) (local.get $step))
        (i32.sub (local.get $end) (local.get $to))))))

  ;; Decodes $in to $inEnd into $out to $outEnd. Returns how many bytes that were, or -1 for a block that is corrupt.
  (func (export "decode") (param $in i32) (param $inEnd i32) (param $out i32) (param $outEnd i32) (result i32)
    (local $start i32)
    (local $token i32)
    (local $length i32)
    (local $byte i32)
    (local $distance i32)
    (local $from i32)
    (local.set $start (local.get $out))
    (block $corrupt
      (loop $sequence
        (br_if $corrupt (i32.ge_u (local.get $in) (local.get $inEnd)))
        (local.set $token (i32.load8_u (local.get $in)))
        (local.set $in (i32.add (local.get $in) (i32.const 1)))

        ;; Literals.
        (local.set $length (i32.shr_u (local.get $token) (i32.const 4)))
        (if (i32.eq (local.get $length) (i32.const 15))
          (then
            (loop $more
              (br_if $corrupt (i32.ge_u (local.get $in) (local.get $inEnd)))
              (local.set $byte (i32.load8_u (local.get $in)))
              (local.set $in (i32.add (local.get $in) (i32.const 1)))
              (local.set $length (i32.add (local.get $length) (local.get $byte)))
              (br_if $more (i32.eq (local.get $byte) (i32.const 255))))))
        (if (local.get $length)
          (then
            (br_if $corrupt (i32.gt_u (local.get $length) (i32.sub (local.get $inEnd) (local.get $in))))
            (br_if $corrupt (i32.gt_u (local.get $length) (i32.sub (local.get $outEnd) (local.get $out))))
            (v128.store align=1 (local.get $out) (v128.load align=1 (local.get $in)))
            (if (i32.gt_u (local.get $length) (i32.const 16))
              (then (call $copy (local.get $out) (local.get $in) (local.get $length))))
            (local.set $in (i32.add (local.get $in) (local.get $length)))
            (local.set $out (i32.add (local.get $out) (local.get $length)))))
        ;; The last sequence ends here.
        (if (i32.eq (local.get $in) (local.get $inEnd))
          (then (return (i32.sub (local.get $out) (local.get $start)))))

        ;; A match.
        (br_if $corrupt (i32.lt_u (i32.sub (local.get $inEnd) (local.get $in)) (i32.const 2)))
        (local.set $distance (i32.load16_u align=1 (local.get $in)))
        (local.set $in (i32.add (local.get $in) (i32.const 2)))
        (br_if $corrupt (i32.eqz (local.get $distance)))
        (br_if $corrupt (i32.gt_u (local.get $distance) (i32.sub (local.get $out) (local.get $start))))
        (local.set $length (i32.and (local.get $token) (i32.const 15)))
        (if (i32.eq (local.get $length) (i32.const 15))
          (then
            (loop $more
              (br_if $corrupt (i32.ge_u (local.get $in) (local.get $inEnd)))
              (local.set $byte (i32.load8_u (local.get $in)))
              (local.set $in (i32.add (local.get $in) (i32.const 1)))
              (local.set $length (i32.add (local.get $length) (local.get $byte)))
              (br_if $more (i32.eq (local.get $byte) (i32.const 255))))))
        (local.set $length (i32.add (local.get $length) (i32.const 4)))
        (br_if $corrupt (i32.gt_u (local.get $length) (i32.sub (local.get $outEnd) (local.get $out))))
        (if (i32.ge_u (local.get $distance) (i32.const 16))
          (then
            (local.set $from (i32.sub (local.get $out) (local.get $distance)))
            (v128.store align=1 (local.get $out) (v128.load align=1 (local.get $from)))
            (if (i32.gt_u (local.get $length) (i32.const 16))
              (then (call $copy (local.get $out) (local.get $from) (local.get $length)))))
          (else (call $repeat (local.get $out) (local.get $distance) (local.get $length))))
        (local.set $out (i32.add (local.get $out) (local.get $length)))
        (br $sequence)))
    (i32.const -1)))
