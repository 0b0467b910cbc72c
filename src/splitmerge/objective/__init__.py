"""The objective f, its derivatives, curvature bounds and the transformed domain."""
