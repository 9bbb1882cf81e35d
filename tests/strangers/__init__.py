"""What somebody meets who has read nothing: programs as they are written elsewhere, mistakes, and rough handling."""
