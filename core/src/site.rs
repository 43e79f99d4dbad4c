//! Sites: guest instruction addresses as (module, offset), interned.
